import type { PrincipalType } from '@behalf/contracts';

/** What somebody may do with one server. Unique by (tenant, serverId, principalType, principalId). */
export interface AclRecord {
  /** Made by `aclId`. */
  id: string;
  tenant: string;
  serverId: string;
  principalType: PrincipalType;
  /** A user's id, a group of the token, a role's name; empty for `public`. */
  principalId: string;
  bits: number;
  grantedBy: string;
  grantedAt: number;
}

export interface AclStore {
  /** Of all servers and tenants, in the order of their ids. */
  list(): Promise<AclRecord[]>;
  listByServer(tenant: string, serverId: string): Promise<AclRecord[]>;
  /** All of it or nothing: `put` replaces by id, then `remove` takes away by id. */
  change(change: { put: readonly AclRecord[]; remove: readonly string[] }): Promise<void>;
  /** The server is gone; how many there were. */
  removeByServer(tenant: string, serverId: string): Promise<number>;
  /** The user, group or role is gone; how many there were. */
  removeByPrincipal(tenant: string, type: PrincipalType, principalId: string): Promise<number>;
}

export type AclKey = Pick<AclRecord, 'tenant' | 'serverId' | 'principalType' | 'principalId'>;

/** A JSON tuple: no two keys share one. */
export function aclId({ tenant, serverId, principalType, principalId }: AclKey): string {
  return JSON.stringify([tenant, serverId, principalType, principalId]);
}

/** What people of one tenant may do. Unique by (tenant, name). */
export interface RoleRecord {
  /** Made by `roleId`. */
  id: string;
  tenant: string;
  name: string;
  description: string;
  /** The bits of MCP_SERVERS that somebody decided about. One that is missing was never decided. */
  permissions: Readonly<Record<string, boolean>>;
  version: number;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
}

export interface RoleStore {
  /** Of all tenants, in the order of their ids. */
  list(): Promise<RoleRecord[]>;
  find(tenant: string, name: string): Promise<RoleRecord | null>;
  insert(role: RoleRecord): Promise<'inserted' | 'taken'>;
  /** Replaces the record of this id if it still has version `seen`, as one step for all processes. */
  replace(role: RoleRecord, expectedVersion: number): Promise<'replaced' | 'version_conflict' | 'missing'>;
  /** False when there was none. */
  remove(tenant: string, name: string): Promise<boolean>;
}

/** A JSON tuple: no two keys share one. */
export function roleId(tenant: string, name: string): string {
  return JSON.stringify([tenant, name]);
}
