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
