/** A personal API key. The store knows only the hash of it. */
export interface ApiKeyRecord {
  id: string;
  /** Unique. */
  hash: string;
  tenant: string;
  userId: string;
  /** What its owner calls it. */
  name: string;
  /** The last characters, so that its owner can tell keys apart. */
  hint: string;
  scopes: readonly string[];
  createdAt: number;
  expiresAt: number;
  lastUsedAt: number | null;
}

export interface ApiKeyStore {
  insert(key: ApiKeyRecord): Promise<void>;
  /** Null when unknown or expired at `now`. */
  findByHash(hash: string, now: number): Promise<ApiKeyRecord | null>;
  /** Which of these, by their ids, are there and not expired at `now`. */
  filterActive(ids: readonly string[], now: number): Promise<string[]>;
  /** Of one user, the oldest first, expired ones too. */
  list(userId: string): Promise<ApiKeyRecord[]>;
  /** The removed one; null when this user has no such key. */
  remove(userId: string, id: string): Promise<ApiKeyRecord | null>;
  /** How many there were. */
  removeByUser(userId: string): Promise<number>;
  removeExpired(now: number): Promise<number>;
  /** Notes the use; an earlier time than the noted one changes nothing. */
  touch(id: string, at: number): Promise<void>;
}
