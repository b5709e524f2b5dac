import { GatewayError, type Principal, type RevocationMonitor, principalKey } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import { type Clock, type Random, coalesce } from '@behalf/kernel';
import { type QuotaLimits, createUserQuota } from '../../../http/userQuota.ts';
import type { McpSession, SessionStates } from '../session/sessions.ts';

/*
 * Open streams of this replica. Invariants:
 * - Streams are limited per user and in total. A stream ends with the credentials of its caller and at a maximum age.
 * - A session has one notification stream across all replicas (MCP 2025-06-18, Streamable HTTP). The newest replaces the others.
 * - All streams of a session end when any replica ends the session.
 */
const streamLimits: QuotaLimits = { maxPerUser: 64, maxTotal: 10_000 };

/** After this time a stream ends. The client reconnects and is authenticated again. */
const MAX_AGE_MS = 60 * 60_000;

export type OpenStreams = ReturnType<typeof createOpenStreams>;

/** The open notification streams of this replica, limited per user and in total. */
export function createOpenStreams({
  clock,
  callerWatch,
  limits = streamLimits,
}: {
  readonly clock: Clock;
  readonly callerWatch: Pick<RevocationMonitor, 'subscribe'>;
  readonly limits?: QuotaLimits;
}) {
  const open = new Map<() => void, Principal>();
  const quota = createUserQuota(limits);
  let isDraining = false;
  return {
    /**
     * Registers a stream, or throws if there are too many. Calls `end` once: when the stream reaches its maximum age or
     * `expiresAt`, when the token or key of the caller expires or is revoked, when the user signs out, or when the process ends.
     * Returns a function that unregisters the stream without ending it.
     */
    register(caller: Principal, end: () => void, expiresAt = Infinity): () => void {
      const { userId } = caller;
      if (isDraining) throw new GatewayError('SHUTTING_DOWN');
      const exceeded = quota.exceeded(userId);
      if (exceeded) {
        throw new GatewayError('MCP_RATE_LIMITED', {
          detail:
            exceeded === 'user'
              ? `You have ${quota.used(userId)} open streams. Close one of them.`
              : 'Too many streams are open here. Try again in a moment.',
          retryAfterMs: 5_000,
        });
      }
      const unregister = () => {
        if (!open.delete(endOnce)) return;
        cancel();
        stopWatching();
        quota.add(userId, -1);
      };
      const endOnce = () => {
        unregister();
        runSafely(end);
      };
      const remainingMs = Math.min(expiryOf(caller), expiresAt) - clock.now();
      const cancel = clock.timer(Math.max(0, Math.min(MAX_AGE_MS, remainingMs)), endOnce);
      const stopWatching = callerWatch.subscribe(caller, endOnce);
      open.set(endOnce, caller);
      quota.add(userId);
      return unregister;
    },
    get size(): number {
      return open.size;
    },
    /** Ends the streams of one user. A client that is still authorized reconnects. */
    endForPrincipal(principal: string): void {
      for (const [end, caller] of [...open]) if (principalKey(caller) === principal) end();
    },
    /** Refuses new streams and ends all open ones. */
    drain(): void {
      isDraining = true;
      for (const end of [...open.keys()]) end();
    },
  };
}

/** The MCP endpoint accepts no cookies. The end of a browser session is reported by `callerWatch`. */
function expiryOf({ authentication }: Principal): number {
  return authentication.via === 'session' ? Infinity : (authentication.expiresAt ?? Infinity);
}

/** One stream that fails to end must not prevent the end of the others. */
function runSafely(end: () => void): void {
  try {
    end();
  } catch {
    // The stream is unregistered already.
  }
}

interface StreamEntry {
  readonly end: () => void;
  readonly onChange: () => void;
  /** Identifies the notification stream in the store. Undefined for resumed streams. */
  readonly readerName: string | undefined;
  /** Whether the store contains this reader, or a newer one. */
  isClaimed: boolean;
}

interface SessionEntry {
  readonly session: McpSession;
  readonly streams: Set<StreamEntry>;
}

/** A notification may concern all sessions: this many are checked concurrently. */
const MAX_CONCURRENT_CHECKS = 16;
const RETRY_MS = 1_000;

export type SessionStreams = ReturnType<typeof createSessionStreams>;

/** The streams of sessions at this replica. Checks the store when a change notification names one of these sessions. */
export function createSessionStreams({
  cache,
  changes,
  states,
  clock,
  random,
}: {
  readonly cache: Cache;
  readonly changes: Pick<ChangeFeed, 'publish' | 'subscribe'>;
  readonly states: Pick<SessionStates, 'read'>;
  readonly clock: Clock;
  readonly random: Random;
}) {
  const entries = new Map<string, SessionEntry>();
  let pendingKeys = new Set<string>();

  function add(session: McpSession, stream: StreamEntry): SessionEntry {
    const entry = entries.get(session.key) ?? { session, streams: new Set() };
    entries.set(session.key, entry);
    entry.streams.add(stream);
    return entry;
  }

  function remove({ session, streams }: SessionEntry, stream: StreamEntry): boolean {
    const isRemoved = streams.delete(stream);
    if (isRemoved && streams.size === 0) entries.delete(session.key);
    return isRemoved;
  }

  function endStream(entry: SessionEntry, stream: StreamEntry): void {
    if (remove(entry, stream)) runSafely(stream.end);
  }

  async function claimReader(session: McpSession, stream: StreamEntry, readerName: string): Promise<void> {
    await cache.set(readerKey(session), readerName, Math.max(1, session.expiresAt - clock.now()));
    stream.isClaimed = true;
    // This replica receives the notification as well, and checks for a concurrent claim or the end of the session.
    await changes.publish({ topic: 'mcpSessions', id: session.key });
  }

  async function checkSession(key: string): Promise<void> {
    const entry = entries.get(key);
    if (!entry) return;
    const { session, streams } = entry;
    const [{ isEnded }, currentReader] = await Promise.all([
      states.read(session),
      cache.get(readerKey(session)),
    ]);
    for (const stream of [...streams]) {
      const { readerName, isClaimed } = stream;
      if (isEnded || (readerName !== undefined && isClaimed && currentReader !== readerName))
        endStream(entry, stream);
      else stream.onChange();
    }
  }

  const checkPending = coalesce(async () => {
    const keys = [...pendingKeys];
    pendingKeys = new Set();
    for (let index = 0; index < keys.length; index += MAX_CONCURRENT_CHECKS) {
      const batch = keys.slice(index, index + MAX_CONCURRENT_CHECKS);
      await Promise.all(batch.map((key) => checkSession(key).catch(() => retryLater(key))));
    }
  });

  /** The store failed. */
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
    if (pendingKeys.size > 0) void checkPending();
  });

  return {
    /** Opens the notification stream of a session. `onChange`: the state of the session may have changed. */
    openListener(session: McpSession, end: () => void, onChange: () => void): () => void {
      const readerName = random.id();
      const stream: StreamEntry = { end, onChange, readerName, isClaimed: false };
      const entry = add(session, stream);
      for (const other of [...entry.streams])
        if (other !== stream && other.readerName !== undefined) endStream(entry, other);
      // Without the store, streams at other replicas cannot be replaced, so this one ends.
      claimReader(session, stream, readerName).catch(() => endStream(entry, stream));
      return () => void remove(entry, stream);
    },
    /** Adds a resumed stream, which only ends with its session. */
    addResumed(session: McpSession, end: () => void): () => void {
      const stream = { end, onChange: () => undefined, readerName: undefined, isClaimed: false };
      const entry = add(session, stream);
      return () => void remove(entry, stream);
    },
    close(): void {
      unsubscribe();
      entries.clear();
    },
  };
}

function readerKey({ key }: McpSession): string {
  return `reader:${key}`;
}
