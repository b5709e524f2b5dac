/** `manual`: an administrator assigned the role; tokens do not change it. `claim`: each verified token sets it. */
export type RoleSource = 'manual' | 'claim';

/** One account. Its identity is (tenant, issuer, subject). An email address never joins two accounts. */
export interface UserRecord {
  id: string;
  tenant: string;
  /** `local` for local accounts; otherwise the issuer of the identity provider. */
  issuer: string;
  /** The subject at the issuer; for local accounts the normalized email address. */
  subject: string;
  email: string;
  name: string;
  role: string;
  roleSource: RoleSource;
  /** When a verified token last confirmed the role; null if an administrator assigned it. */
  roleConfirmedAt: number | null;
  /** Set while the account is disabled. */
  disabledAt: number | null;
  /** When one or all of the user's sessions were last ended. Connections opened earlier must be closed. */
  signedOutAt: number | null;
  /** The password hash, encrypted and bound to this account; null if the user signs in at an identity provider. */
  passwordSealed: string | null;
  createdAt: number;
  updatedAt: number;
}

/** The fields of an account that can change. The identity cannot. */
export type UserChange = Partial<
  Pick<
    UserRecord,
    'email' | 'name' | 'role' | 'roleSource' | 'roleConfirmedAt' | 'disabledAt' | 'signedOutAt'
  >
>;

export interface UserStore {
  /** `taken` if (tenant, issuer, subject) exists. The unique index decides, without a prior lookup. */
  insert(user: UserRecord): Promise<'inserted' | 'taken'>;
  /** Inserts only if the store has no user yet. Atomic across replicas. */
  insertFirst(user: UserRecord): Promise<'inserted' | 'not_first'>;
  findById(id: string): Promise<UserRecord | null>;
  /** The existing users with these IDs, in any order. */
  findMany(ids: readonly string[]): Promise<UserRecord[]>;
  findByIdentity(tenant: string, issuer: string, subject: string): Promise<UserRecord | null>;
  /** False if the user does not exist, or if the record does not match `expect`. */
  update(
    id: string,
    change: UserChange,
    changedAt: number,
    condition?: Partial<Pick<UserRecord, 'role' | 'roleSource'>>,
  ): Promise<boolean>;
  /**
   * The users of one tenant after the given ID, ordered by ID. `search` matches part of the email address or name,
   * ignoring case.
   */
  list(tenant: string, page: { after: string | null; limit: number; search?: string }): Promise<UserRecord[]>;
  /** The number of enabled users of a tenant with this role. */
  countWithRole(tenant: string, role: string): Promise<number>;
  /** The users of all tenants whose sessions ended at or after this time. */
  listSignedOutSince(since: number): Promise<Pick<UserRecord, 'id' | 'tenant' | 'signedOutAt'>[]>;
  count(): Promise<number>;
}

/** The sign-in of a browser, or a grant to an OAuth client. The store has only a hash of the cookie value. */
export interface SessionRecord {
  hash: string;
  userId: string;
  tenant: string;
  via: 'password' | 'openid' | 'client';
  /** The groups from the token at sign-in; empty for local accounts. */
  groups: readonly string[];
  /**
   * For `client`: the OAuth client, and the hash of the session in which the user granted access. No cookie belongs
   * to it.
   */
  grant: { readonly clientId: string; readonly from: string } | null;
  createdAt: number;
  expiresAt: number;
}

export interface SessionStore {
  insert(session: SessionRecord): Promise<void>;
  /** Null if unknown, or expired at `now`. */
  find(hash: string, now: number): Promise<SessionRecord | null>;
  /** The hashes among these whose sessions are active at `now`. */
  filterActive(hashes: readonly string[], now: number): Promise<string[]>;
  /** The sessions of one user that are active at `now`, the oldest first. */
  list(userId: string, now: number): Promise<SessionRecord[]>;
  /** False if it did not exist. */
  remove(hash: string): Promise<boolean>;
  /** Returns the number of removed sessions. */
  removeByUser(userId: string): Promise<number>;
  removeExpired(now: number): Promise<number>;
}

/** A personal API key. The store has only its hash. */
export interface ApiKeyRecord {
  id: string;
  /** Unique. */
  hash: string;
  tenant: string;
  userId: string;
  /** The name that the owner chose. */
  name: string;
  /** The last characters of the key, so that the owner can recognize it. */
  hint: string;
  scopes: readonly string[];
  createdAt: number;
  expiresAt: number;
  lastUsedAt: number | null;
}

export interface ApiKeyStore {
  insert(key: ApiKeyRecord): Promise<void>;
  /** Null if unknown, or expired at `now`. */
  findByHash(hash: string, now: number): Promise<ApiKeyRecord | null>;
  /** The IDs among these whose keys exist and are not expired at `now`. */
  filterActive(ids: readonly string[], now: number): Promise<string[]>;
  /** The keys of one user, the oldest first, including expired ones. */
  list(userId: string): Promise<ApiKeyRecord[]>;
  /** The removed key; null if this user has no such key. */
  remove(userId: string, id: string): Promise<ApiKeyRecord | null>;
  /** Returns the number of removed keys. */
  removeByUser(userId: string): Promise<number>;
  removeExpired(now: number): Promise<number>;
  /** Records the last use. An earlier time than the recorded one changes nothing. */
  touch(id: string, at: number): Promise<void>;
}

export type TicketKind = 'setup';

/** A one-time permission. The store has only the hash of its secret. */
export interface TicketRecord {
  hash: string;
  kind: TicketKind;
  createdAt: number;
  expiresAt: number;
}

export interface TicketStore {
  /** Also removes expired tickets. */
  issue(ticket: TicketRecord): Promise<void>;
  /** Whether the ticket is still valid. For showing a form; only `consume` decides. */
  isConsumable(kind: TicketKind, hash: string, now: number): Promise<boolean>;
  /** True for exactly one caller across all replicas, before the ticket expires. */
  consume(kind: TicketKind, hash: string, now: number): Promise<boolean>;
  /** Revokes all open tickets of a kind. */
  revokeAll(kind: TicketKind): Promise<void>;
}
