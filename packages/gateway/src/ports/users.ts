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
  /** The password's hash, sealed to this very account; null when it signs in elsewhere. */
  passwordSealed: string | null;
  createdAt: number;
  updatedAt: number;
}

export interface UserStore {
  /** `taken` when (tenant, issuer, subject) exists; the unique index decides, not a look-up. */
  insert(user: UserRecord): Promise<'inserted' | 'taken'>;
  /** Inserts only into a store without any user, as one step for all processes. */
  insertFirst(user: UserRecord): Promise<'inserted' | 'not_first'>;
  findById(id: string): Promise<UserRecord | null>;
  findByIdentity(tenant: string, issuer: string, subject: string): Promise<UserRecord | null>;
  /** False when there is no such user. */
  setRole(id: string, role: string, at: number): Promise<boolean>;
  count(): Promise<number>;
}
