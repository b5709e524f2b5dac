import type { Cancel, Clock } from '@behalf/kernel';
import type { ApiKeyStore, ChangeFeed, ChangeTopic, SessionStore, UserStore } from '../ports/index.ts';
import { type Principal, principalKey } from '../principal/principal.ts';
import type { AuthorizationServerKeys } from './authorizationServer/signingKeys.ts';

interface RevocationMonitorParts {
  readonly users: Pick<UserStore, 'findMany'>;
  readonly sessions: Pick<SessionStore, 'filterActive'>;
  readonly apiKeys: Pick<ApiKeyStore, 'filterActive'>;
  /** Our own authorization server's; null where there is none. */
  readonly signingKeys: Pick<AuthorizationServerKeys, 'liveAmong'> | null;
  readonly changes: Pick<ChangeFeed, 'subscribe'>;
  readonly clock: Clock;
}

/** Callers were looked at when they came in. Whatever lasts longer is told here when that counts no longer. */
export interface RevocationMonitor {
  /**
   * Calls back once when the key, grant or sign-in of this caller was ended, their account is disabled or has another role,
   * or what signed their token counts no more. What runs out by itself is not told: `until` of the caller says when. Returns how to stop.
   */
  subscribe(caller: Principal, onRevoked: () => void): () => void;
  stop(): void;
}

interface MonitoredCaller {
  readonly caller: Principal;
  readonly onRevoked: () => void;
}

/** One question to the store about many callers. */
interface RevocationCheck {
  readonly idOf: (caller: Principal) => string | undefined;
  readonly findActive: (ids: readonly string[]) => Promise<(caller: Principal, id: string) => boolean>;
}

const MONITORED_TOPICS = [
  'apiKeys',
  'sessions',
  'users',
  'signingKeys',
] as const satisfies readonly ChangeTopic[];
type MonitoredTopic = (typeof MONITORED_TOPICS)[number];

const RETRY_MS = 1_000;
/** Stores have a limit on what one question may name. */
const MAX_BATCH = 500;

/** However many are followed, a notice costs as many questions as its topic has; nobody asks by the clock. */
export function createRevocationMonitor(parts: RevocationMonitorParts): RevocationMonitor {
  const { changes, clock } = parts;
  const checks = createChecks(parts);
  const monitored = new Set<MonitoredCaller>();
  /** Followed since the last question: what was ended while they came in was told to nobody. */
  let unchecked = new Set<MonitoredCaller>();
  let pendingTopics = new Set<MonitoredTopic>();
  let isChecking = false;
  let isStopped = false;
  let cancel: Cancel = () => undefined;

  async function runCheck(
    { idOf, findActive }: RevocationCheck,
    callers: Iterable<MonitoredCaller>,
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
          if (!isStopped && !isActive(entry.caller, id)) notifyRevoked(entry);
    }
  }

  function notifyRevoked(entry: MonitoredCaller): void {
    if (!monitored.delete(entry)) return;
    unchecked.delete(entry);
    try {
      entry.onRevoked();
    } catch {
      // Its own affair: the others end too.
    }
  }

  /** One round at a time; a notice meanwhile asks for another. */
  async function checkAll(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    while ((pendingTopics.size > 0 || unchecked.size > 0) && !isStopped) {
      const [topics, added] = [pendingTopics, unchecked];
      pendingTopics = new Set();
      unchecked = new Set();
      try {
        for (const [topic, check] of checks)
          await runCheck(check, topics.has(topic) ? [...monitored] : [...added]);
      } catch {
        for (const topic of topics) pendingTopics.add(topic);
        for (const entry of added) if (monitored.has(entry)) unchecked.add(entry);
        scheduleRetry();
        break;
      }
    }
    isChecking = false;
  }

  function scheduleRetry(): void {
    cancel();
    if (!isStopped) cancel = clock.timer(RETRY_MS, () => void checkAll());
  }

  const unsubscribe = changes.subscribe(({ topic: changedTopic }) => {
    const topic = MONITORED_TOPICS.find((candidate) => candidate === changedTopic);
    if (topic === undefined || monitored.size === 0) return;
    pendingTopics.add(topic);
    void checkAll();
  });

  return {
    subscribe(caller, onRevoked) {
      const entry = { caller, onRevoked };
      monitored.add(entry);
      unchecked.add(entry);
      void checkAll();
      return () => {
        monitored.delete(entry);
        unchecked.delete(entry);
      };
    },
    stop() {
      isStopped = true;
      cancel();
      unsubscribe();
      monitored.clear();
      unchecked.clear();
    },
  };
}

function createChecks({
  users,
  sessions,
  apiKeys,
  signingKeys,
  clock,
}: RevocationMonitorParts): [MonitoredTopic, RevocationCheck][] {
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
      // Of a rotation by the calendar, the key before still counts: nobody is ended for it.
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
            return user?.tenant === tenant && user.disabledAt === null && user.role === role;
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
  /** Closes and forgets what this process holds for them. */
  readonly onSignedOut: (principal: string) => void;
}

/** How far the clocks of two replicas may be apart. */
const OVERLAP_MS = 60_000;
const SIGN_OUT_RETRY_MS = 1_000;

/**
 * Whoever was signed out anywhere is signed out here. A notice may not say who it was: the store does, and one question
 * answers for everybody who was signed out since the last one.
 */
export function subscribeToSignOuts({ users, changes, clock, onSignedOut }: SignOutParts): { stop(): void } {
  /** What was acted upon, so that the overlap does not end connections that were opened after it. */
  const handled = new Map<string, number>();
  let checkedAt = clock.now();
  let isPending = false;
  let isChecking = false;
  let isStopped = false;
  let cancel: () => void = () => undefined;

  async function checkStore(): Promise<void> {
    const startedAt = clock.now();
    // Since the last answer, however long ago that was.
    const since = checkedAt - OVERLAP_MS;
    const signedOut = await users.listSignedOutSince(since);
    checkedAt = startedAt;
    for (const [key, at] of handled) if (at < since) handled.delete(key);
    for (const { id, tenant, signedOutAt } of signedOut) {
      const key = principalKey({ tenant, userId: id });
      if (isStopped || signedOutAt === null || (handled.get(key) ?? -Infinity) >= signedOutAt) continue;
      handled.set(key, signedOutAt);
      onSignedOut(key);
    }
  }

  /** One question at a time; a notice meanwhile asks for another. */
  async function checkAll(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      while (isPending && !isStopped) {
        isPending = false;
        await checkStore();
      }
    } catch {
      isPending = true;
      cancel();
      if (!isStopped) cancel = clock.timer(SIGN_OUT_RETRY_MS, () => void checkAll());
    } finally {
      isChecking = false;
    }
  }

  const unsubscribe = changes.subscribe(({ topic }) => {
    if (topic !== 'users') return;
    isPending = true;
    void checkAll();
  });
  return {
    stop() {
      isStopped = true;
      cancel();
      unsubscribe();
    },
  };
}
