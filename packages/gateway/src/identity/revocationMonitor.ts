import { type Cancel, type Clock, coalesce } from '@behalf/kernel';
import type { ApiKeyStore, ChangeFeed, ChangeTopic, SessionStore, UserStore } from '../ports/index.ts';
import { type Principal, isActiveUser, principalKey } from '../principal/principal.ts';
import type { AuthorizationServerKeys } from './authorizationServer/signingKeys.ts';

interface RevocationMonitorParts {
  readonly users: Pick<UserStore, 'findMany'>;
  readonly sessions: Pick<SessionStore, 'filterActive'>;
  readonly apiKeys: Pick<ApiKeyStore, 'filterActive'>;
  /** The keys of Behalf's authorization server; null if it is disabled. */
  readonly signingKeys: Pick<AuthorizationServerKeys, 'liveAmong'> | null;
  readonly changes: Pick<ChangeFeed, 'subscribe'>;
  readonly clock: Clock;
}

/** Ends streams and subscriptions when their caller is revoked. A request is authenticated once, but a stream outlives that. */
export interface RevocationMonitor {
  /**
   * Calls `onRevoked` once if the API key, session, grant or signing key of the caller is revoked, the account is disabled, or
   * its role changes. Expiry is not reported: the caller knows it from `until`. Returns a function that unsubscribes.
   */
  subscribe(caller: Principal, onRevoked: () => void): () => void;
  stop(): void;
}

interface MonitoredCaller {
  readonly caller: Principal;
  readonly onRevoked: () => void;
}

/** One store query for many callers. */
interface RevocationCheck {
  readonly idOf: (caller: Principal) => string | undefined;
  readonly findActive: (ids: readonly string[]) => Promise<(caller: Principal, id: string) => boolean>;
}

/** Stores limit the number of ids in one query. */
const MAX_BATCH = 500;

/** The number of queries for a change depends on its topic, not on the number of callers. Nothing is polled. */
export function createRevocationMonitor(parts: RevocationMonitorParts): RevocationMonitor {
  const { changes, clock } = parts;
  const checks = createChecks(parts);
  const monitored = new Set<MonitoredCaller>();
  /** Subscribed since the last run. A revocation between authentication and subscription had no subscriber. */
  let unchecked = new Set<MonitoredCaller>();
  let pendingTopics = new Set<ChangeTopic>();

  const loop = createCheckLoop(clock, async (isStopped) => {
    const [topics, added] = [pendingTopics, unchecked];
    pendingTopics = new Set();
    unchecked = new Set();
    try {
      for (const [topic, check] of checks)
        await runCheck(check, topics.has(topic) ? [...monitored] : [...added], isStopped);
    } catch (error) {
      for (const topic of topics) pendingTopics.add(topic);
      for (const entry of added) if (monitored.has(entry)) unchecked.add(entry);
      throw error;
    }
  });

  async function runCheck(
    { idOf, findActive }: RevocationCheck,
    callers: Iterable<MonitoredCaller>,
    isStopped: () => boolean,
  ): Promise<void> {
    const byId = new Map<string, MonitoredCaller[]>();
    for (const entry of callers) {
      const id = idOf(entry.caller);
      if (id === undefined) continue;
      const existing = byId.get(id);
      if (existing) existing.push(entry);
      else byId.set(id, [entry]);
    }
    const ids = [...byId.keys()];
    for (let offset = 0; offset < ids.length; offset += MAX_BATCH) {
      const batch = ids.slice(offset, offset + MAX_BATCH);
      const isActive = await findActive(batch);
      for (const id of batch)
        for (const entry of byId.get(id) ?? [])
          if (!isStopped() && !isActive(entry.caller, id)) notifyRevoked(entry);
    }
  }

  function notifyRevoked(entry: MonitoredCaller): void {
    if (!monitored.delete(entry)) return;
    unchecked.delete(entry);
    try {
      entry.onRevoked();
    } catch {
      // A failing callback must not prevent the others.
    }
  }

  const unsubscribe = changes.subscribe(({ topic }) => {
    if (monitored.size === 0 || !checks.some(([checkedTopic]) => checkedTopic === topic)) return;
    pendingTopics.add(topic);
    loop.trigger();
  });

  return {
    subscribe(caller, onRevoked) {
      const entry = { caller, onRevoked };
      monitored.add(entry);
      unchecked.add(entry);
      loop.trigger();
      return () => {
        monitored.delete(entry);
        unchecked.delete(entry);
      };
    },
    stop() {
      loop.stop();
      unsubscribe();
      monitored.clear();
      unchecked.clear();
    },
  };
}

const RETRY_MS = 1_000;

/** Runs `work` once at a time, and again if a trigger arrives during a run. Repeats a failed run after a second. */
function createCheckLoop(clock: Clock, work: (isStopped: () => boolean) => Promise<void>) {
  let stopped = false;
  let cancelRetry: Cancel = () => undefined;
  const isStopped = () => stopped;
  const run = coalesce(async () => {
    cancelRetry();
    if (isStopped()) return;
    try {
      await work(isStopped);
    } catch {
      if (!isStopped()) cancelRetry = clock.timer(RETRY_MS, trigger);
    }
  });
  const trigger = () => void run();
  return {
    trigger,
    stop() {
      stopped = true;
      cancelRetry();
    },
  };
}

function createChecks(parts: RevocationMonitorParts): [ChangeTopic, RevocationCheck][] {
  const { users, sessions, apiKeys, signingKeys, clock } = parts;
  const activeAmong = (activeIds: readonly string[]) => {
    const activeSet = new Set(activeIds);
    return (_caller: Principal, id: string) => activeSet.has(id);
  };
  return [
    [
      'apiKeys',
      {
        idOf: ({ authentication: by }) => (by.via === 'api_key' ? by.key : undefined),
        findActive: async (ids) => activeAmong(await apiKeys.filterActive(ids, clock.now())),
      },
    ],
    [
      'sessions',
      {
        idOf: ({ authentication: by }) =>
          by.via === 'session' ? by.session : by.via === 'bearer' ? by.grant?.session : undefined,
        findActive: async (hashes) => activeAmong(await sessions.filterActive(hashes, clock.now())),
      },
    ],
    [
      // After a planned rotation the previous key stays active, so no stream ends.
      'signingKeys',
      {
        idOf: ({ authentication: by }) => (by.via === 'bearer' ? by.grant?.signingKeyId : undefined),
        findActive: async (kids) => activeAmong((await signingKeys?.liveAmong(kids)) ?? []),
      },
    ],
    [
      'users',
      {
        idOf: ({ kind, userId }) => (kind === 'user' ? userId : undefined),
        async findActive(ids) {
          const usersById = new Map((await users.findMany(ids)).map((user) => [user.id, user]));
          return ({ tenant, role }, id) => {
            const user = usersById.get(id);
            return isActiveUser(user, tenant) && user.role === role;
          };
        },
      },
    ],
  ];
}

interface SignOutParts {
  readonly users: Pick<UserStore, 'listSignedOutSince'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  /** Closes and drops what this process holds for the principal. */
  readonly onSignedOut: (principal: string) => void;
}

/** Tolerated difference between the clocks of two replicas. */
const OVERLAP_MS = 60_000;

/**
 * Reports every sign-out of every replica. A notice may not contain the user, so one query reads all sign-outs since the last
 * one.
 */
export function subscribeToSignOuts({ users, changes, clock, onSignedOut }: SignOutParts): { stop(): void } {
  /** Reported sign-outs, so that the overlap does not end connections that were opened later. */
  const handled = new Map<string, number>();
  let checkedAt = clock.now();

  const loop = createCheckLoop(clock, async (isStopped) => {
    const startedAt = clock.now();
    // Since the last successful query, however long ago that was.
    const since = checkedAt - OVERLAP_MS;
    const signedOut = await users.listSignedOutSince(since);
    checkedAt = startedAt;
    for (const [key, at] of handled) if (at < since) handled.delete(key);
    for (const { id, tenant, signedOutAt } of signedOut) {
      const key = principalKey({ tenant, userId: id });
      if (isStopped() || signedOutAt === null || (handled.get(key) ?? -Infinity) >= signedOutAt) continue;
      handled.set(key, signedOutAt);
      onSignedOut(key);
    }
  });
  const unsubscribe = changes.subscribe(({ topic }) => {
    if (topic === 'users') loop.trigger();
  });
  return {
    stop() {
      loop.stop();
      unsubscribe();
    },
  };
}
