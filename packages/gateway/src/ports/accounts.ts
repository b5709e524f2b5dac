/** Who decides about a role: an administrator, whom no token overrules, or the token, which is asked each time. */
export type RoleSource = 'manual' | 'claim';

/** One account. Identity is (tenant, issuer, subject): an email never joins two accounts. */
export interface UserRecord {
  id: string;
  tenant: string;
  /** `local` for accounts of our own, otherwise the identity provider's issuer. */
  issuer: string;
  /** Within the issuer; the normalised email for local accounts. */
  subject: string;
  email: string;
  name: string;
  role: string;
  roleSource: RoleSource;
  /** When a verified token last named the role; null for one that an administrator gave. */
  roleConfirmedAt: number | null;
  /** Set while the account may not be used. */
  disabledAt: number | null;
  /** The last time all or one of its sign-ins were ended: what was opened for it before is to be closed. */
  signedOutAt: number | null;
  /** The password's hash, sealed to this very account; null when it signs in elsewhere. */
  passwordSealed: string | null;
  createdAt: number;
  updatedAt: number;
}

/** What may change of an account. Who it is never does. */
export type UserChange = Partial<
  Pick<
    UserRecord,
    'email' | 'name' | 'role' | 'roleSource' | 'roleConfirmedAt' | 'disabledAt' | 'signedOutAt'
  >
>;

export interface UserStore {
  /** `taken` when (tenant, issuer, subject) exists; the unique index decides, not a look-up. */
  insert(user: UserRecord): Promise<'inserted' | 'taken'>;
  /** Inserts only into a store without any user, as one step for all processes. */
  insertFirst(user: UserRecord): Promise<'inserted' | 'not_first'>;
  findById(id: string): Promise<UserRecord | null>;
  /** Those of these ids that there are, in no order. */
  findMany(ids: readonly string[]): Promise<UserRecord[]>;
  findByIdentity(tenant: string, issuer: string, subject: string): Promise<UserRecord | null>;
  /** False when there is no such user. `expect` makes it conditional: false as well when the record says otherwise. */
  update(
    id: string,
    change: UserChange,
    changedAt: number,
    condition?: Partial<Pick<UserRecord, 'role' | 'roleSource'>>,
  ): Promise<boolean>;
  /** Of one tenant, in the order of their ids, after the given one. `search` is part of email or name, in any case. */
  list(tenant: string, page: { after: string | null; limit: number; search?: string }): Promise<UserRecord[]>;
  /** How many enabled users of a tenant have the role. */
  countWithRole(tenant: string, role: string): Promise<number>;
  /** Who was signed out at this time or later, in any tenant. */
  listSignedOutSince(since: number): Promise<Pick<UserRecord, 'id' | 'tenant' | 'signedOutAt'>[]>;
  count(): Promise<number>;
}

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

export type TicketKind = 'setup';

/** A one-time permission, known to the store by the hash of its secret. */
export interface TicketRecord {
  hash: string;
  kind: TicketKind;
  createdAt: number;
  expiresAt: number;
}

export interface TicketStore {
  /** Removes what had expired by the time the new one was made: nothing else would. */
  issue(ticket: TicketRecord): Promise<void>;
  /** True while it can still be consumed: to show a form, never to decide. */
  isConsumable(kind: TicketKind, hash: string, now: number): Promise<boolean>;
  /** True for exactly one caller in all processes, before it expires. */
  consume(kind: TicketKind, hash: string, now: number): Promise<boolean>;
  /** Ends every open ticket of a kind. */
  revokeAll(kind: TicketKind): Promise<void>;
}
