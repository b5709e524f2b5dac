import type { SealContext } from '@behalf/kernel';

/** A server that somebody looks at before saving it, for as long as it takes to sign in there. Of one user. */
export interface DraftRecord {
  /** Also the id of the server that is made of it, so that what was given for the draft need not be moved. */
  id: string;
  tenant: string;
  userId: string;
  /** What tokens are bound to. */
  canonicalUrl: string;
  /** The definition, as JSON: an address may hold a key. */
  sealed: string;
  createdAt: number;
  expiresAt: number;
  /** When a server was made of it; null: none yet. */
  takenAt: number | null;
}

export interface DraftStore {
  /** `full`: this user has as many as one may have that are not over at `createdAt`. */
  insert(draft: DraftRecord, maxPerUser: number): Promise<'inserted' | 'full'>;
  /** Also one that is over. */
  find(tenant: string, id: string): Promise<DraftRecord | null>;
  /** Of whichever tenant: for what is public about it, and nothing else. */
  findById(id: string): Promise<DraftRecord | null>;
  /** Of one user, also those that are over, in the order of ids. */
  listByUser(tenant: string, userId: string): Promise<DraftRecord[]>;
  /** For exactly one caller in all processes, who must be its user, before it is over. It is over from then on. */
  consume(tenant: string, id: string, userId: string, now: number): Promise<boolean>;
  /** Those of all tenants that were over by then; so many at most. */
  listExpired(expiredBy: number, limit: number): Promise<DraftRecord[]>;
  remove(tenant: string, id: string): Promise<boolean>;
}

/** Bound to its user and its id: the address of one does not open as that of another. */
export function toDraftSealContext({
  tenant,
  userId,
  id,
}: Pick<DraftRecord, 'tenant' | 'userId' | 'id'>): SealContext {
  return { tenant, principal: `user:${userId}`, server: id, kind: 'server-draft', field: 'definition' };
}
