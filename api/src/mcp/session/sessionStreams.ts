import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';
import type { McpSession } from './sessions.ts';
import type { SessionStates } from './sessionStates.ts';

/** The streams of sessions that are open here. They end with their session, wherever that is ended. */
export interface SessionStreams {
  /**
   * The one stream for what nobody asked for: of all that a session opens, at whichever replicas, the last to come is the
   * one that reads. `onNews`: something about the session may have changed.
   */
  enter(session: McpSession, end: () => void, onNews: () => void): () => void;
  /** Any other one. */
  join(session: McpSession, end: () => void): () => void;
  close(): void;
}

export interface SessionStreamParts {
  readonly cache: Cache;
  readonly changes: Pick<ChangeFeed, 'publish' | 'subscribe'>;
  readonly states: Pick<SessionStates, 'read'>;
  readonly clock: Clock;
  readonly random: Random;
}

interface Member {
  readonly end: () => void;
  readonly onNews: () => void;
  /** Of the one that reads: what it wrote to the store. */
  readonly name: string | undefined;
  /** It is written there. */
  claimed: boolean;
}

interface Open {
  readonly session: McpSession;
  readonly members: Set<Member>;
}

/** A notice may be about every session: so many are asked about at a time. */
const AT_ONCE = 16;
const RETRY_MS = 1_000;

export function createSessionStreams(parts: SessionStreamParts): SessionStreams {
  const { cache, changes, states, clock, random } = parts;
  const sessions = new Map<string, Open>();
  let waiting = new Set<string>();
  let looking = false;

  function add(session: McpSession, member: Member): () => void {
    const open = sessions.get(session.key) ?? { session, members: new Set() };
    sessions.set(session.key, open);
    open.members.add(member);
    return () => void remove(open, member);
  }

  function remove({ session, members }: Open, member: Member): boolean {
    const isRemoved = members.delete(member);
    if (isRemoved && members.size === 0) sessions.delete(session.key);
    return isRemoved;
  }

  /** Once, and none takes the others along. */
  function finish(open: Open, member: Member): void {
    if (!remove(open, member)) return;
    try {
      member.end();
    } catch {
      // Its own affair.
    }
  }

  async function claim(session: McpSession, name: string): Promise<void> {
    await cache.set(slotOf(session), name, Math.max(1, session.expiresAt - clock.now()));
    for (const member of sessions.get(session.key)?.members ?? [])
      if (member.name === name) member.claimed = true;
    // Comes back to us as well: what was ended or opened meanwhile is seen then.
    await changes.publish({ topic: 'mcpSessions', id: session.key });
  }

  async function check(key: string): Promise<void> {
    const open = sessions.get(key);
    if (!open) return;
    const { session, members } = open;
    const [{ ended }, reader] = await Promise.all([states.read(session), cache.get(slotOf(session))]);
    for (const member of [...members]) {
      const { name, claimed } = member;
      if (ended || (name !== undefined && claimed && reader !== name)) finish(open, member);
      else member.onNews();
    }
  }

  /** One round at a time; what is told meanwhile is asked in the next. */
  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    while (waiting.size > 0) {
      const round = [...waiting];
      waiting = new Set();
      for (let at = 0; at < round.length; at += AT_ONCE)
        await Promise.all(round.slice(at, at + AT_ONCE).map((key) => check(key).catch(() => later(key))));
    }
    looking = false;
  }

  /** The store does not answer. */
  function later(key: string): void {
    clock.timer(RETRY_MS, () => {
      if (!sessions.has(key)) return;
      waiting.add(key);
      void look();
    });
  }

  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'mcpSessions') return;
    if (id === '*') for (const key of sessions.keys()) waiting.add(key);
    else if (sessions.has(id)) waiting.add(id);
    void look();
  });

  return {
    enter(session, end, onNews) {
      const name = random.id();
      const member: Member = { end, onNews, name, claimed: false };
      const leave = add(session, member);
      const open = sessions.get(session.key) as Open;
      for (const other of [...open.members])
        if (other !== member && other.name !== undefined) finish(open, other);
      // Without the store nobody elsewhere could be told: then this one gives way.
      claim(session, name).catch(() => finish(open, member));
      return leave;
    },
    join: (session, end) => add(session, { end, onNews: () => undefined, name: undefined, claimed: false }),
    close() {
      unsubscribe();
      sessions.clear();
    },
  };
}

function slotOf({ key }: McpSession): string {
  return `reader:${key}`;
}
