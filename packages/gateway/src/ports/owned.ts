/** What somebody saved, and others may be given: a block, a set. */
export interface OwnedRecord {
  id: string;
  tenant: string;
  /** The user who made it. */
  owner: string;
  /** Counts changes: who changes it says which one they saw. */
  version: number;
  /** What was saved, as JSON. It may hold anything. */
  sealed: string;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
}

/** Every method names the tenant. Who may do what with a record stands in the access list, not here. */
export interface OwnedStore<R extends OwnedRecord> {
  find(tenant: string, id: string): Promise<R | null>;
  /** Those of these ids that are there, in the order of their ids. */
  findMany(tenant: string, ids: readonly string[]): Promise<R[]>;
  /** Never more than `most` of one owner, however many are inserted at once. Throws when the id exists. */
  insert(record: R, maxPerOwner: number): Promise<'inserted' | 'full'>;
  /** Replaces the record of this id and tenant if it still has version `seen`, as one step for all processes. */
  replace(record: R, expectedVersion: number): Promise<'replaced' | 'version_conflict' | 'missing'>;
  /** False when there was none. */
  remove(tenant: string, id: string): Promise<boolean>;
}
