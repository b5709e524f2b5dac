/** A browser's sign-in. The store knows only the hash of what the cookie holds. */
export interface SessionRecord {
  hash: string;
  userId: string;
  tenant: string;
  createdAt: number;
  expiresAt: number;
}

export interface SessionStore {
  insert(session: SessionRecord): Promise<void>;
  /** Null when unknown or expired at `now`. */
  find(hash: string, now: number): Promise<SessionRecord | null>;
  /** False when there was none. */
  remove(hash: string): Promise<boolean>;
  /** How many were ended. */
  removeOfUser(userId: string): Promise<number>;
  removeExpired(now: number): Promise<number>;
}
