import type { SealContext } from '@behalf/kernel';

/** A server that a user defined. Unique by (tenant, name) and by (tenant, normalizedName). */
export interface StoredServerRecord {
  id: string;
  tenant: string;
  name: string;
  /** The form of the name that is used in tool names. */
  normalizedName: string;
  /** The user who created it. */
  author: string;
  /** Incremented by each change. A change names the version it is based on. */
  version: number;
  /** The whole definition as encrypted JSON: headers, keys and client secrets can appear anywhere in it. */
  configSealed: string;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
  /**
   * The user who last changed a field that decides where calls go and which credential they carry. The OBO trust
   * check evaluates this user's permissions.
   */
  securedBy: string;
  securedAt: number;
  /** A MAC of those fields. A mismatch means that they were changed without the gateway. */
  securedHash: string;
}

/** The identifying fields, without the definition. */
export type StoredServerName = Pick<StoredServerRecord, 'id' | 'name' | 'normalizedName' | 'author'>;

export interface ServerStore {
  /** `taken` if the name or its normalized form exists in the tenant. The unique indexes decide. */
  insert(server: StoredServerRecord): Promise<'inserted' | 'taken'>;
  /** Compare-and-set: replaces the record with this ID and tenant if it still has `expectedVersion`. */
  replace(
    server: StoredServerRecord,
    expectedVersion: number,
  ): Promise<'replaced' | 'taken' | 'version_conflict' | 'missing'>;
  /** False if it did not exist. */
  remove(tenant: string, id: string): Promise<boolean>;
  find(tenant: string, id: string): Promise<StoredServerRecord | null>;
  findByName(tenant: string, name: string): Promise<StoredServerRecord | null>;
  /** The servers of all tenants, ordered by ID. */
  list(): Promise<StoredServerRecord[]>;
  /** The servers of one tenant, ordered by ID, without their definitions. */
  listNames(tenant: string): Promise<StoredServerName[]>;
  /** Cheap enough to be called every second. */
  listVersions(): Promise<Pick<StoredServerRecord, 'id' | 'version'>[]>;
}

/**
 * Binds the definition to the server and to the user who decided its security fields. A definition copied to
 * another row or tenant, or to a row that names another user, fails to decrypt.
 */
export function toServerSealContext({
  tenant,
  id,
  securedBy,
}: Pick<StoredServerRecord, 'tenant' | 'id' | 'securedBy'>): SealContext {
  return { tenant, principal: '-', server: id, kind: 'server', field: 'config', binding: [securedBy] };
}

/** An administrator's change to a server from YAML, or an additional server of one tenant. Unique by (tenant, name). */
export interface OverrideRecord {
  /** From `overrideId`. */
  id: string;
  tenant: string;
  name: string;
  version: number;
  /** The changed fields of the definition as encrypted JSON. */
  configSealed: string;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
  /** The user who last changed a field that decides where calls go and which credential they carry. */
  securedBy: string;
  securedAt: number;
}

export interface OverrideStore {
  /** The overrides of all tenants, ordered by ID. */
  list(): Promise<OverrideRecord[]>;
  find(tenant: string, name: string): Promise<OverrideRecord | null>;
  /**
   * Compare-and-set: inserts if `expectedVersion` is null and there is none; otherwise replaces the override if it
   * still has `expectedVersion`.
   */
  put(override: OverrideRecord, expectedVersion: number | null): Promise<'stored' | 'version_conflict'>;
  remove(
    tenant: string,
    name: string,
    expectedVersion: number,
  ): Promise<'removed' | 'version_conflict' | 'missing'>;
}

/** A JSON tuple, so that different keys never have the same ID. */
export function overrideId(tenant: string, name: string): string {
  return JSON.stringify([tenant, name]);
}

/**
 * Binds the definition to tenant, name and the user who decided its security fields. A definition copied to another
 * row, or to a row that names another user, fails to decrypt.
 */
export function toOverrideSealContext({
  tenant,
  name,
  securedBy,
}: Pick<OverrideRecord, 'tenant' | 'name' | 'securedBy'>): SealContext {
  return { tenant, principal: '-', server: name, kind: 'override', field: 'config', binding: [securedBy] };
}

/** A server that a user tests before saving it. Belongs to one user and lives as long as a sign-in takes. */
export interface DraftRecord {
  /** Becomes the ID of the saved server, so that credentials stored for the draft remain valid. */
  id: string;
  tenant: string;
  userId: string;
  /** The URL that tokens are bound to. */
  canonicalUrl: string;
  /** The definition as encrypted JSON, because a URL may contain a key. */
  sealed: string;
  createdAt: number;
  expiresAt: number;
  /** When the draft was saved as a server; null before. */
  takenAt: number | null;
}

export interface DraftStore {
  /** `full`: at `createdAt` this user has `maxPerUser` drafts that are not expired. */
  insert(draft: DraftRecord, maxPerUser: number): Promise<'inserted' | 'full'>;
  /** Also finds an expired draft. */
  find(tenant: string, id: string): Promise<DraftRecord | null>;
  /** Of any tenant. Use only for public information about the draft. */
  findById(id: string): Promise<DraftRecord | null>;
  /** The drafts of one user including expired ones, ordered by ID. */
  listByUser(tenant: string, userId: string): Promise<DraftRecord[]>;
  /**
   * True for exactly one caller across all replicas, who must be the draft's user, before it expires. The draft
   * then counts as expired.
   */
  consume(tenant: string, id: string, userId: string, now: number): Promise<boolean>;
  /** The drafts of all tenants that expired by then, up to `limit`. */
  listExpired(expiredBy: number, limit: number): Promise<DraftRecord[]>;
  remove(tenant: string, id: string): Promise<boolean>;
}

/** Binds the definition to user and ID: a definition copied to another draft fails to decrypt. */
export function toDraftSealContext({
  tenant,
  userId,
  id,
}: Pick<DraftRecord, 'tenant' | 'userId' | 'id'>): SealContext {
  return { tenant, principal: `user:${userId}`, server: id, kind: 'server-draft', field: 'definition' };
}
