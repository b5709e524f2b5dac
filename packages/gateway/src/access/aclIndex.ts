import { ALL_ACL_BITS } from '@behalf/contracts';
import type { AclRecord } from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';

interface ResourceGrants {
  publicBits: number;
  readonly users: Map<string, number>;
  readonly groups: Map<string, number>;
  readonly roles: Map<string, number>;
}

/** All rows, by what they are asked for on each call. */
export interface AclIndex {
  /** What the rows of this server in this tenant give the caller, together. */
  getBits(principal: Principal, tenant: string, serverId: string): number;
  /** Of the names that begin like this those with any row that gives the caller something, with what it gives. */
  listByPrefix(principal: Principal, tenant: string, prefix: string): [name: string, bits: number][];
}

export function buildAclIndex(records: readonly AclRecord[]): AclIndex {
  const tenants = new Map<string, Map<string, ResourceGrants>>();
  for (const { tenant, serverId, principalType, principalId, bits } of records) {
    const servers = tenants.get(tenant) ?? new Map<string, ResourceGrants>();
    tenants.set(tenant, servers);
    const grants = servers.get(serverId) ?? createEmptyGrants();
    servers.set(serverId, grants);
    const validBits = bits & ALL_ACL_BITS;
    if (principalType === 'public') grants.publicBits |= validBits;
    else if (principalType === 'user') addBits(grants.users, principalId, validBits);
    else if (principalType === 'group') addBits(grants.groups, principalId, validBits);
    else addBits(grants.roles, principalId, validBits);
  }
  return {
    getBits(principal, tenant, serverId) {
      const grants = tenants.get(tenant)?.get(serverId);
      return grants ? combineBits(grants, principal) : 0;
    },
    listByPrefix(principal, tenant, prefix) {
      const matches: [string, number][] = [];
      for (const [name, grants] of tenants.get(tenant) ?? []) {
        const bits = name.startsWith(prefix) ? combineBits(grants, principal) : 0;
        if (bits !== 0) matches.push([name, bits]);
      }
      return matches;
    },
  };
}

/** A program is nobody's account and in nobody's group: what is shared with people by name is not for it. */
function combineBits(grants: ResourceGrants, { kind, userId, role, groups }: Principal): number {
  const sharedBits = grants.publicBits | (grants.roles.get(role) ?? 0);
  if (kind === 'service') return sharedBits;
  let bits = sharedBits | (grants.users.get(userId) ?? 0);
  if (grants.groups.size > 0) for (const group of groups) bits |= grants.groups.get(group) ?? 0;
  return bits;
}

function createEmptyGrants(): ResourceGrants {
  return { publicBits: 0, users: new Map(), groups: new Map(), roles: new Map() };
}

function addBits(grants: Map<string, number>, id: string, bits: number): void {
  grants.set(id, (grants.get(id) ?? 0) | bits);
}
