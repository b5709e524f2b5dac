import { GatewayError, type Principal, type RevocationMonitor, principalKey } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';
import type { McpSession, SessionStates } from '../session/sessions.ts';

interface StreamLimits {
  readonly maxPerUser: number;
  readonly maxTotal: number;
}

const streamLimits: StreamLimits = { maxPerUser: 64, maxTotal: 10_000 };

/** Who opened a stream is looked at again after this: the client comes back and shows who it is. */
const MAX_AGE_MS = 60 * 60_000;

/** Streams that wait for something to happen. They cost little each, and nobody may have them all. */
export interface OpenStreams {
  /**
   * Throws when there is no room. `end` is called once: when its time is up, or what its caller came in with or `until`
   * is over, when its user is signed out, or when the process ends.
   */
  register(caller: Principal, end: () => void, expiresAt?: number): () => void;
  readonly size: number;
  /** Ends those of one principal: who still may comes back and is looked at anew. */
  endForPrincipal(principal: string): void;
  /** Takes none any more, and ends those that are open. */
  drain(): void;
}

interface OpenStreamParts {
  readonly clock: Clock;
  readonly callerWatch: Pick<RevocationMonitor, 'subscribe'>;
  readonly limits?: StreamLimits;
}

export function createOpenStreams({
  clock,
  callerWatch,
  limits = streamLimits,
}: OpenStreamParts): OpenStreams {
  const { maxPerUser, maxTotal } = limits;
  const open = new Map<() => void, Principal>();
  const users = new Map<string, number>();
  let isDraining = false;
  return {
    register(caller, end, expiresAt = Infinity) {
      const { userId } = caller;
      if (isDraining) throw new GatewayError('SHUTTING_DOWN');
      const userStreams = users.get(userId) ?? 0;
      if (userStreams >= maxPerUser || open.size >= maxTotal) {
        throw new GatewayError('MCP_RATE_LIMITED', {
          detail:
            userStreams >= maxPerUser
              ? `You have ${userStreams} open streams. Close one of them.`
              : 'Too many streams are open here. Try again in a moment.',
          retryAfterMs: 5_000,
        });
      }
      const unregister = () => {
        if (!open.delete(endOnce)) return;
        cancel();
        stopWatching();
        const remaining = (users.get(userId) ?? 1) - 1;
        if (remaining === 0) users.delete(userId);
        else users.set(userId, remaining);
      };
      const endOnce = () => {
        unregister();
        try {
          end();
        } catch {
          // Called by a timer or among all the others: one that cannot end well takes nobody along.
        }
      };
      const remainingMs = Math.min(expiryOf(caller), expiresAt) - clock.now();
      const cancel = clock.timer(Math.max(0, Math.min(MAX_AGE_MS, remainingMs)), endOnce);
      const stopWatching = callerWatch.subscribe(caller, endOnce);
      open.set(endOnce, caller);
      users.set(userId, userStreams + 1);
      return unregister;
    },
    get size() {
      return open.size;
    },
    endForPrincipal(principal) {
      for (const [end, caller] of [...open]) if (principalKey(caller) === principal) end();
    },
    drain() {
      isDraining = true;
      for (const end of [...open.keys()]) end();
    },
  };
}

/** Cookies open no such stream, and what they are of is told when it ends. */
function expiryOf({ authentication }: Principal): number {
  return authentication.via === 'session' ? Infinity : (authentication.expiresAt ?? Infinity);
}

/** The streams of sessions that are open here. They end with their session, wherever that is ended. */
export interface SessionStreams {
  /**
   * The one stream for what nobody asked for: of all that a session opens, at whichever replicas, the last to come is the
   * one that reads. `onChange`: something about the session may have changed.
   */
  openListener(session: McpSession, end: () => void, onChange: () => void): () => void;
  /** Any other one. */
  add2(session: McpSession, end: () => void): () => void;
  close(): void;
}

interface SessionStreamParts {
  readonly cache: Cache;
  readonly changes: Pick<ChangeFeed, 'publish' | 'subscribe'>;
  readonly states: Pick<SessionStates, 'read'>;
  readonly clock: Clock;
  readonly random: Random;
}

interface StreamEntry {
  readonly end: () => void;
  readonly onChange: () => void;
  /** Of the one that reads: what it wrote to the store. */
  readonly readerName: string | undefined;
  /** It is written there. */
  isClaimed: boolean;
}

interface SessionEntry {
  readonly session: McpSession;
  readonly members: Set<StreamEntry>;
}

/** A notice may be about every session: so many are asked about at a time. */
const MAX_CONCURRENT_CHECKS = 16;
const RETRY_MS = 1_000;

export function createSessionStreams(parts: SessionStreamParts): SessionStreams {
  const { cache, changes, states, clock, random } = parts;
  const entries = new Map<string, SessionEntry>();
  let pendingKeys = new Set<string>();
  let isChecking = false;

  function add(session: McpSession, member: StreamEntry): () => void {
    const entry = entries.get(session.key) ?? { session, members: new Set() };
    entries.set(session.key, entry);
    entry.members.add(member);
    return () => void remove(entry, member);
  }

  function remove({ session, members }: SessionEntry, member: StreamEntry): boolean {
    const isRemoved = members.delete(member);
    if (isRemoved && members.size === 0) entries.delete(session.key);
    return isRemoved;
  }

  /** Once, and none takes the others along. */
  function endStream(entry: SessionEntry, member: StreamEntry): void {
    if (!remove(entry, member)) return;
    try {
      member.end();
    } catch {
      // Its own affair.
    }
  }

  async function claimReader(session: McpSession, readerName: string): Promise<void> {
    await cache.set(readerKey(session), readerName, Math.max(1, session.expiresAt - clock.now()));
    for (const member of entries.get(session.key)?.members ?? [])
      if (member.readerName === readerName) member.isClaimed = true;
    // Comes back to us as well: what was ended or opened meanwhile is seen then.
    await changes.publish({ topic: 'mcpSessions', id: session.key });
  }

  async function checkSession(key: string): Promise<void> {
    const entry = entries.get(key);
    if (!entry) return;
    const { session, members } = entry;
    const [{ isEnded }, currentReader] = await Promise.all([
      states.read(session),
      cache.get(readerKey(session)),
    ]);
    for (const member of [...members]) {
      const { readerName, isClaimed } = member;
      if (isEnded || (readerName !== undefined && isClaimed && currentReader !== readerName))
        endStream(entry, member);
      else member.onChange();
    }
  }

  /** One round at a time; what is told meanwhile is asked in the next. */
  async function checkPending(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    while (pendingKeys.size > 0) {
      const round = [...pendingKeys];
      pendingKeys = new Set();
      for (let index = 0; index < round.length; index += MAX_CONCURRENT_CHECKS)
        await Promise.all(
          round
            .slice(index, index + MAX_CONCURRENT_CHECKS)
            .map((key) => checkSession(key).catch(() => retryLater(key))),
        );
    }
    isChecking = false;
  }

  /** The store does not answer. */
  function retryLater(key: string): void {
    clock.timer(RETRY_MS, () => {
      if (!entries.has(key)) return;
      pendingKeys.add(key);
      void checkPending();
    });
  }

  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'mcpSessions') return;
    if (id === '*') for (const key of entries.keys()) pendingKeys.add(key);
    else if (entries.has(id)) pendingKeys.add(id);
    void checkPending();
  });

  return {
    openListener(session, end, onChange) {
      const readerName = random.id();
      const member: StreamEntry = { end, onChange, readerName, isClaimed: false };
      const unregister = add(session, member);
      const entry = entries.get(session.key) as SessionEntry;
      for (const other of [...entry.members])
        if (other !== member && other.readerName !== undefined) endStream(entry, other);
      // Without the store nobody elsewhere could be told: then this one gives way.
      claimReader(session, readerName).catch(() => endStream(entry, member));
      return unregister;
    },
    add2: (session, end) =>
      add(session, { end, onChange: () => undefined, readerName: undefined, isClaimed: false }),
    close() {
      unsubscribe();
      entries.clear();
    },
  };
}

function readerKey({ key }: McpSession): string {
  return `reader:${key}`;
}
