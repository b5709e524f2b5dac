import type { SealContext } from '@behalf/kernel';

/** A server that a user defined. Unique by (tenant, name) and by (tenant, normalizedName). */
export interface StoredServerRecord {
  id: string;
  tenant: string;
  name: string;
  /** The form that appears in tool names. */
  normalizedName: string;
  /** The user who created it. */
  author: string;
  /** Counts changes: who changes it says which one they saw. */
  version: number;
  /** The whole definition as JSON. Sealed as one: headers, keys and client secrets may stand anywhere in it. */
  configSealed: string;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
  /** Who last decided where calls lead and with which credential: what other users' tokens are trusted to. */
  securedBy: string;
  securedAt: number;
  /** Of the fields they decided about. Another value: somebody changed them past us. */
  securedHash: string;
}

/** By which a server is known, without what it holds. */
export type StoredServerName = Pick<StoredServerRecord, 'id' | 'name' | 'normalizedName' | 'author'>;

export interface ServerStore {
  /** `taken` when the name or its normalised form exists in the tenant; the unique indexes decide. */
  insert(server: StoredServerRecord): Promise<'inserted' | 'taken'>;
  /** Replaces the record of this id and tenant if it still has version `seen`, as one step for all processes. */
  replace(
    server: StoredServerRecord,
    expectedVersion: number,
  ): Promise<'replaced' | 'taken' | 'version_conflict' | 'missing'>;
  /** False when there was none. */
  remove(tenant: string, id: string): Promise<boolean>;
  find(tenant: string, id: string): Promise<StoredServerRecord | null>;
  findByName(tenant: string, name: string): Promise<StoredServerRecord | null>;
  /** Of all tenants, in the order of their ids. */
  list(): Promise<StoredServerRecord[]>;
  /** Of one tenant, in the order of their ids, without reading what they hold. */
  listNames(tenant: string): Promise<StoredServerName[]>;
  /** Of all of them no more than this: cheap enough to be asked every other second. */
  listVersions(): Promise<Pick<StoredServerRecord, 'id' | 'version'>[]>;
}

/**
 * Bound to the server and to who decided about it: a definition moved into another row or under another tenant does not
 * open, nor does one whose row names somebody else.
 */
export function toServerSealContext({
  tenant,
  id,
  securedBy,
}: Pick<StoredServerRecord, 'tenant' | 'id' | 'securedBy'>): SealContext {
  return { tenant, principal: '-', server: id, kind: 'server', field: 'config', binding: [securedBy] };
}
