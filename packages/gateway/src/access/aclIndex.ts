import { ALL_ACL_BITS } from '@behalf/contracts';
import type { AclRecord } from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';

interface Grants {
  everybody: number;
  readonly users: Map<string, number>;
  readonly groups: Map<string, number>;
  readonly roles: Map<string, number>;
}

/** All rows, by what they are asked for on each call. */
export interface AclIndex {
  /** What the rows of this server in this tenant give the caller, together. */
  bitsOf(principal: Principal, tenant: string, serverId: string): number;
  /** Of the names that begin like this those with any row that gives the caller something, with what it gives. */
  beginningWith(principal: Principal, tenant: string, prefix: string): [name: string, bits: number][];
}

export function buildAclIndex(records: readonly AclRecord[]): AclIndex {
  const tenants = new Map<string, Map<string, Grants>>();
  for (const { tenant, serverId, principalType, principalId, bits } of records) {
    const servers = tenants.get(tenant) ?? new Map<string, Grants>();
    tenants.set(tenant, servers);
    const grants = servers.get(serverId) ?? nobody();
    servers.set(serverId, grants);
    const known = bits & ALL_ACL_BITS;
    if (principalType === 'public') grants.everybody |= known;
    else if (principalType === 'user') add(grants.users, principalId, known);
    else if (principalType === 'group') add(grants.groups, principalId, known);
    else add(grants.roles, principalId, known);
  }
  return {
    bitsOf(principal, tenant, serverId) {
      const grants = tenants.get(tenant)?.get(serverId);
      return grants ? union(grants, principal) : 0;
    },
    beginningWith(principal, tenant, prefix) {
      const found: [string, number][] = [];
      for (const [name, grants] of tenants.get(tenant) ?? []) {
        const bits = name.startsWith(prefix) ? union(grants, principal) : 0;
        if (bits !== 0) found.push([name, bits]);
      }
      return found;
    },
  };
}

/** A program is nobody's account and in nobody's group: what is shared with people by name is not for it. */
function union(grants: Grants, { kind, userId, role, groups }: Principal): number {
  const forAll = grants.everybody | (grants.roles.get(role) ?? 0);
  if (kind === 'service') return forAll;
  let bits = forAll | (grants.users.get(userId) ?? 0);
  if (grants.groups.size > 0) for (const group of groups) bits |= grants.groups.get(group) ?? 0;
  return bits;
}

function nobody(): Grants {
  return { everybody: 0, users: new Map(), groups: new Map(), roles: new Map() };
}

function add(grants: Map<string, number>, id: string, bits: number): void {
  grants.set(id, (grants.get(id) ?? 0) | bits);
}
