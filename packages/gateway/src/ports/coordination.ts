/** What may change under another process's feet. */
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
  /** Tokens: stored anew, ended, imported. The id is the credential's. */
  'credentials',
  /** Sign-ins at servers: the id is the flow's. */
  'oauthFlows',
  /** Sessions of MCP clients: ended, or a word for one of their requests. The id is the session's. */
  'mcpSessions',
  /** The signing keys of our own authorization server. */
  'signingKeys',
] as const;
export type ChangeTopic = (typeof changeTopics)[number];

export interface ChangeEvent {
  topic: ChangeTopic;
  /** The record that changed, or `*` when only the topic is known. */
  id: string;
}

/**
 * Tells all processes, this one included, that something changed. A notice says "read again", never what the new value
 * is. It may be late, doubled or widened to `*`; how late is what `checkedAt` says.
 */
export interface ChangeFeed {
  publish(change: ChangeEvent): Promise<void>;
  subscribe(listener: (change: ChangeEvent) => void): () => void;
  /**
   * Every notice published before this time has been heard here. What was read and not ended by a notice was therefore
   * true at this time at the latest. It stands still while the store cannot be asked.
   */
  syncedUntil(): number;
}

/** What was read counts everywhere as changed after this time at the latest: roles, sign-outs, values of users. */
export const MAX_STALENESS_MS = 2_000;
/** What nobody publishes, such as the day a session is over, counts after this time. */
const MAX_CACHE_AGE_MS = 30_000;

/**
 * Whether what was read at `readAt` may still be used. Unless a notice has ended it, it was true when the feed was last
 * sure to have heard everything: that is as good as having read it then.
 */
export function isCurrent(changes: Pick<ChangeFeed, 'syncedUntil'>, now: number, readAt: number): boolean {
  return now - Math.max(readAt, changes.syncedUntil()) < MAX_STALENESS_MS && now - readAt < MAX_CACHE_AGE_MS;
}

/** State whose loss costs only work. Values are opaque text; a secret in here is sealed by who puts it in. */
export interface Cache {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  delete(key: string): Promise<boolean>;
  clear(): Promise<void>;
}

/** Namespaces never see each other's keys. */
export type OpenCache = (namespace: string) => Cache;

export interface AttemptWindow {
  /** How many hits this window has seen, this one included. */
  count: number;
  resetAt: number;
}

/** Counts attempts in fixed windows for all processes together. */
export interface AttemptCounter {
  hit(key: string, windowMs: number): Promise<AttemptWindow>;
  clear(key: string): Promise<void>;
}

/**
 * Pairs that were received and could not be stored. Apart from the primary store, because that is what failed. Values are
 * sealed by who puts them in.
 */
export interface PendingWriteStore {
  put(id: string, sealed: string): Promise<void>;
  /** Reads it and leaves it: it goes when what it holds is stored. */
  find(id: string): Promise<string | null>;
  /** Only this very value: whoever has stored theirs takes nothing away that was put in later. */
  remove(id: string, sealed: string): Promise<void>;
}
