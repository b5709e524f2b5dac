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
