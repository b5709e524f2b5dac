import type { PrincipalType } from '@behalf/contracts';

/** The permissions of one principal on one resource. Unique by (tenant, serverId, principalType, principalId). */
export interface AclRecord {
  /** From `aclId`. */
  id: string;
  tenant: string;
  serverId: string;
  principalType: PrincipalType;
  /** A user ID, a group from the token, or a role name; empty for `public`. */
  principalId: string;
  bits: number;
  grantedBy: string;
  grantedAt: number;
}

export interface AclStore {
  /** The entries of all servers and tenants, ordered by ID. */
  list(): Promise<AclRecord[]>;
  listByServer(tenant: string, serverId: string): Promise<AclRecord[]>;
  /** Atomic: `put` inserts or replaces by ID, then `remove` deletes by ID. */
  change(change: { put: readonly AclRecord[]; remove: readonly string[] }): Promise<void>;
  /** Removes the entries of a deleted server. Returns their number. */
  removeByServer(tenant: string, serverId: string): Promise<number>;
  /** Removes the entries of a deleted user, group or role. Returns their number. */
  removeByPrincipal(tenant: string, type: PrincipalType, principalId: string): Promise<number>;
}

export type AclKey = Pick<AclRecord, 'tenant' | 'serverId' | 'principalType' | 'principalId'>;

/** A JSON tuple, so that different keys never have the same ID. */
export function aclId({ tenant, serverId, principalType, principalId }: AclKey): string {
  return JSON.stringify([tenant, serverId, principalType, principalId]);
}

/** The permissions of a role in one tenant. Unique by (tenant, name). */
export interface RoleRecord {
  /** From `roleId`. */
  id: string;
  tenant: string;
  name: string;
  description: string;
  /** The MCP_SERVERS permissions that were set explicitly. Missing ones have their default. */
  permissions: Readonly<Record<string, boolean>>;
  version: number;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
}

export interface RoleStore {
  /** The roles of all tenants, ordered by ID. */
  list(): Promise<RoleRecord[]>;
  find(tenant: string, name: string): Promise<RoleRecord | null>;
  insert(role: RoleRecord): Promise<'inserted' | 'taken'>;
  /** Compare-and-set: replaces the record with this ID if it still has `expectedVersion`. */
  replace(role: RoleRecord, expectedVersion: number): Promise<'replaced' | 'version_conflict' | 'missing'>;
  /** False if it did not exist. */
  remove(tenant: string, name: string): Promise<boolean>;
}

/** A JSON tuple, so that different keys never have the same ID. */
export function roleId(tenant: string, name: string): string {
  return JSON.stringify([tenant, name]);
}
