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

/** An administrator's change to a server of the file, or a server that only this tenant has. Unique by (tenant, name). */
export interface OverrideRecord {
  /** Made by `overrideId`. */
  id: string;
  tenant: string;
  name: string;
  version: number;
  /** The definition as JSON: only what differs. */
  configSealed: string;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
  /** Who last decided where calls lead and with which credential: what users' tokens are trusted to. */
  securedBy: string;
  securedAt: number;
}

export interface OverrideStore {
  /** Of all tenants, in the order of their ids. */
  list(): Promise<OverrideRecord[]>;
  find(tenant: string, name: string): Promise<OverrideRecord | null>;
  /** Inserts when `seen` is null and there is none, replaces when it still has version `seen`; one step for all. */
  put(override: OverrideRecord, expectedVersion: number | null): Promise<'stored' | 'version_conflict'>;
  remove(
    tenant: string,
    name: string,
    expectedVersion: number,
  ): Promise<'removed' | 'version_conflict' | 'missing'>;
}

/** A JSON tuple: no two keys share one. */
export function overrideId(tenant: string, name: string): string {
  return JSON.stringify([tenant, name]);
}

/**
 * Bound to tenant and name and to who decided about it: a definition moved into another row does not open there, nor does
 * one whose row names somebody else.
 */
export function toOverrideSealContext({
  tenant,
  name,
  securedBy,
}: Pick<OverrideRecord, 'tenant' | 'name' | 'securedBy'>): SealContext {
  return { tenant, principal: '-', server: name, kind: 'override', field: 'config', binding: [securedBy] };
}

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
