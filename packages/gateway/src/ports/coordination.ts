/** The topics of change notices between replicas. */
export const changeTopics = [
  'users',
  'sessions',
  'settings',
  'variables',
  'servers',
  'roles',
  'acl',
  'overrides',
  'apiKeys',
  'conversations',
  /** Tokens stored, revoked or imported. The ID is the credential's. */
  'credentials',
  /** Sign-ins at servers. The ID is the flow's. */
  'oauthFlows',
  /** Sessions of MCP clients: ended, or a message for one of their requests. The ID is the session's. */
  'mcpSessions',
  /** The signing keys of the gateway's own authorization server. */
  'signingKeys',
] as const;
export type ChangeTopic = (typeof changeTopics)[number];

export interface ChangeEvent {
  topic: ChangeTopic;
  /** The ID of the changed record, or `*` if only the topic is known. */
  id: string;
}

/**
 * Notifies all replicas, including this one, that a record changed. A notice asks to read again; it never contains
 * the new value. It can be late, duplicated or widened to `*`. `syncedUntil` bounds how late.
 */
export interface ChangeFeed {
  publish(change: ChangeEvent): Promise<void>;
  subscribe(listener: (change: ChangeEvent) => void): () => void;
  /**
   * All notices published before this time have been delivered here. A value that was read earlier and not
   * invalidated was therefore still current at this time. The time stands still while the store is unreachable.
   */
  syncedUntil(): number;
}

/** Every replica applies a published change within this time: roles, sign-outs, user variables. */
export const MAX_STALENESS_MS = 2_000;
/** Bounds changes without a notice, such as the expiry of a session. */
const MAX_CACHE_AGE_MS = 30_000;

/**
 * Whether a value that was read at `readAt` may still be used. If no notice invalidated it, it was current when the
 * feed was last in sync, which is equivalent to reading it then.
 */
export function isCurrent(changes: Pick<ChangeFeed, 'syncedUntil'>, now: number, readAt: number): boolean {
  return now - Math.max(readAt, changes.syncedUntil()) < MAX_STALENESS_MS && now - readAt < MAX_CACHE_AGE_MS;
}

/** A cache whose loss costs only work. The caller encrypts values that contain secrets. */
export interface Cache {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  delete(key: string): Promise<boolean>;
  clear(): Promise<void>;
}

/** Namespaces do not share keys. */
export type OpenCache = (namespace: string) => Cache;

export interface AttemptWindow {
  /** The number of hits in this window, including this one. */
  count: number;
  resetAt: number;
}

/** Counts attempts in fixed windows across all replicas. */
export interface AttemptCounter {
  hit(key: string, windowMs: number): Promise<AttemptWindow>;
  clear(key: string): Promise<void>;
}

/**
 * Token pairs that were received but could not be stored. Separate from the primary store, because that is the
 * store that failed. The caller encrypts the values.
 */
export interface PendingWriteStore {
  put(id: string, sealed: string): Promise<void>;
  /** Does not remove the value. `remove` does, after it was stored. */
  find(id: string): Promise<string | null>;
  /** Removes the entry only if it still has this value, so that a newer pair is not lost. */
  remove(id: string, sealed: string): Promise<void>;
}
