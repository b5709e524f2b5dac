import { isCurrent, type Cache, type ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { McpSession } from './sessions.ts';

/** What became of a session since it began. */
export interface SessionState {
  readonly isEnded: boolean;
  /** Of `logging/setLevel`. */
  readonly logLevel: string | undefined;
}

export interface SessionStates {
  /** Without I/O while it is known; as old as everything else may be that was read (two seconds). */
  read(session: McpSession): SessionState | Promise<SessionState>;
  /** For good, on every replica. */
  end(session: McpSession): Promise<void>;
  setLevel(session: McpSession, level: string): Promise<void>;
  close(): void;
}

export interface SessionStateParts {
  readonly cache: Cache;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

const MAX_CACHED_STATES = 10_000;

/** The little that a session does not carry itself. What is here lives as long as the session could. */
export function createSessionStates({ cache, changes, clock }: SessionStateParts): SessionStates {
  const cachedStates = new Map<string, { state: SessionState; readAt: number }>();
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;
  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'mcpSessions') return;
    epoch += 1;
    if (id === '*') cachedStates.clear();
    else cachedStates.delete(id);
  });

  async function load({ key }: McpSession): Promise<SessionState> {
    const startEpoch = epoch;
    const readAt = clock.now();
    const [isEnded, logLevel] = await Promise.all([cache.get(`ended:${key}`), cache.get(`level:${key}`)]);
    const state = { isEnded: isEnded !== undefined, logLevel };
    if (startEpoch !== epoch) return state;
    if (cachedStates.size >= MAX_CACHED_STATES)
      cachedStates.delete(cachedStates.keys().next().value as string);
    cachedStates.set(key, { state, readAt });
    return state;
  }

  async function write(name: string, value: string, { key, expiresAt }: McpSession): Promise<void> {
    await cache.set(`${name}:${key}`, value, Math.max(1, expiresAt - clock.now()));
    cachedStates.delete(key);
    await changes.publish({ topic: 'mcpSessions', id: key });
  }

  return {
    read(session) {
      const cached = cachedStates.get(session.key);
      return cached && isCurrent(changes, clock.now(), cached.readAt) ? cached.state : load(session);
    },
    end: (session) => write('ended', '1', session),
    setLevel: (session, level) => write('level', level, session),
    close: unsubscribe,
  };
}
