/** A browser's sign-in, or what a user granted to a client. The store knows only the hash of what the cookie holds. */
export interface SessionRecord {
  hash: string;
  userId: string;
  tenant: string;
  /** How the user signed in. */
  via: 'password' | 'openid' | 'client';
  /** As the token said at sign-in; none for accounts of our own. */
  groups: readonly string[];
  /** Of `client`: to whom, and during which sign-in (its hash) it was granted. No cookie belongs to it. */
  grant: { readonly clientId: string; readonly from: string } | null;
  createdAt: number;
  expiresAt: number;
}

export interface SessionStore {
  insert(session: SessionRecord): Promise<void>;
  /** Null when unknown or expired at `now`. */
  find(hash: string, now: number): Promise<SessionRecord | null>;
  /** Which of these, by their hashes, are open at `now`. */
  filterActive(hashes: readonly string[], now: number): Promise<string[]>;
  /** Of one user, the oldest first, without those expired at `now`. */
  list(userId: string, now: number): Promise<SessionRecord[]>;
  /** False when there was none. */
  remove(hash: string): Promise<boolean>;
  /** How many were ended. */
  removeByUser(userId: string): Promise<number>;
  removeExpired(now: number): Promise<number>;
}
