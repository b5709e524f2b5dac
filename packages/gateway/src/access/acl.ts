import { ALL_ACL_BITS, type Access, type PrincipalType, aclBits, hasAclBit } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { LOCAL_ISSUER, normalizeEmail } from '../identity/accounts.ts';
import { type AclRecord, type AclStore, type ChangeFeed, aclId } from '../ports/index.ts';
import { type Principal, isAdmin } from '../principal/principal.ts';
import { createReplicatedValue } from '../replication/replicatedValue.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import { EVERY_TENANT } from '../definitions/snapshot.ts';
import type { Log } from '../upstream/upstream.ts';

/**
 * The access control list of servers, blocks and sets. All rows are in memory, at most two seconds old. While the rows
 * are unknown, every method returns no bits.
 */
export interface Acl {
  /** The bits for using a server: the union of what its definition and the rows grant to the caller. */
  getUseBits(principal: Principal, server: ServerSnapshot): number;
  /** Whether the caller may use the server. Administrators need a grant like any other user. */
  readonly canUse: (principal: Principal, server: ServerSnapshot) => boolean;
  /** The bits for managing a server. Administrators of the tenant have all grantable bits. */
  getManageBits(principal: Principal, server: ServerSnapshot): number;
  /** The bits of a block or a set. Only rows grant them. */
  getSavedBits(principal: Principal, kind: SavedKindName, id: string): number;
  /** All blocks or sets on which the caller has bits, by id. */
  listSavedBits(principal: Principal, kind: SavedKindName): ReadonlyMap<string, number>;
  /** Reads the rows of one resource from the store. */
  listRows(tenant: string, serverId: string): Promise<AclRecord[]>;
  /** Writes atomically. When the promise resolves, the in-memory rows contain the change. */
  write(change: { put: readonly AclRecord[]; remove: readonly string[] }): Promise<void>;
  /** Grants all bits of a new server to its author. */
  grantOwner(server: { tenant: string; id: string }, userId: string): Promise<void>;
  /** Removes all rows of a server, so that a later server with the same id starts without grants. */
  removeServer(tenant: string, serverId: string): Promise<void>;
  /** Removes all rows of a deleted user, group or role. */
  removePrincipal(tenant: string, type: PrincipalType, principalId: string): Promise<void>;
  /** Reads the rows now. Rejects if the store does not respond. */
  refresh(): Promise<void>;
  readonly ready: Promise<void>;
  stop(): void;
}

/** The bits that can be granted on a server of the operator. Only its definition can change such a server. */
const OPERATOR_SERVER_BITS = aclBits.VIEW | aclBits.SHARE;

export function createAcl({
  store,
  changes,
  clock,
  log,
}: {
  readonly store: AclStore;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly log: Log;
}): Acl {
  const isAllowedByDefinition = createDefinitionAccess();
  const replicatedIndex = createReplicatedValue<AclIndex | null>({
    read: async () => buildAclIndex(await store.list()),
    ...{ topic: 'acl', fallback: null, changes, clock, log },
  });

  function getUseBits(principal: Principal, server: ServerSnapshot): number {
    const index = replicatedIndex.current();
    if (!index || !isInTenant(principal, server)) return 0;
    const stored = index.getBits(principal, server.id);
    return hasOperatorSource(server) && isAllowedByDefinition(principal, server)
      ? stored | aclBits.VIEW
      : stored;
  }

  async function publishChange(id: string): Promise<void> {
    await changes.publish({ topic: 'acl', id });
    await replicatedIndex.refresh();
  }

  return {
    getUseBits,
    canUse: (principal, server) => hasAclBit(getUseBits(principal, server), 'VIEW'),
    getManageBits(principal, server) {
      if (!replicatedIndex.current() || !isInTenant(principal, server)) return 0;
      const bits = isAdmin(principal) ? ALL_ACL_BITS : getUseBits(principal, server);
      return bits & getGrantableBits(server);
    },
    getSavedBits: (principal, kind, id) =>
      replicatedIndex.current()?.getBits(principal, toAclResourceId(kind, id)) ?? 0,
    listSavedBits(principal, kind) {
      const prefix = toAclResourceId(kind, '');
      const rows = replicatedIndex.current()?.listByPrefix(principal, prefix) ?? [];
      return new Map(rows.map(([name, bits]) => [name.slice(prefix.length), bits]));
    },
    listRows: (tenant, serverId) => store.listByServer(tenant, serverId),
    async write(change) {
      await store.change(change);
      await publishChange('*');
    },
    async grantOwner({ tenant, id: serverId }, userId) {
      const key = { tenant, serverId, principalType: 'user' as const, principalId: userId };
      const grant = { bits: ALL_ACL_BITS, grantedBy: userId, grantedAt: clock.now() };
      await store.change({ put: [{ ...key, ...grant, id: aclId(key) }], remove: [] });
      await publishChange(serverId);
    },
    async removeServer(tenant, serverId) {
      if ((await store.removeByServer(tenant, serverId)) > 0) await publishChange(serverId);
    },
    async removePrincipal(tenant, type, principalId) {
      if ((await store.removeByPrincipal(tenant, type, principalId)) > 0) await publishChange('*');
    },
    refresh: () => replicatedIndex.refresh(),
    ready: replicatedIndex.ready,
    stop: () => replicatedIndex.stop(),
  };
}

/** The shareable resources besides servers. */
export type SavedKindName = 'block' | 'set';

/** The resource id in the rows. It cannot collide with a server id, because server ids contain no slash. */
export function toAclResourceId(kind: SavedKindName, id: string): string {
  return `${kind}/${id}`;
}

/** The bits that can be granted on a server. */
export function getGrantableBits(server: ServerSnapshot): number {
  return hasOperatorSource(server) ? OPERATOR_SERVER_BITS : ALL_ACL_BITS;
}

/** Whether the configuration file or an administrator's override defines the server. */
export function hasOperatorSource({ source }: ServerSnapshot): boolean {
  return source !== 'user';
}

/** Servers of the configuration file belong to every tenant. All other servers belong to one. */
function isInTenant(principal: Principal, server: ServerSnapshot): boolean {
  return server.tenant === principal.tenant || (server.source === 'yaml' && server.tenant === EVERY_TENANT);
}

interface ResourceGrants {
  publicBits: number;
  readonly users: Map<string, number>;
  readonly groups: Map<string, number>;
  readonly roles: Map<string, number>;
}

/** The rows, indexed for lookups by resource within the caller's tenant. */
interface AclIndex {
  getBits(principal: Principal, resourceId: string): number;
  /** The resources whose id has the prefix and on which the caller has bits. */
  listByPrefix(principal: Principal, prefix: string): [resourceId: string, bits: number][];
}

function buildAclIndex(records: readonly AclRecord[]): AclIndex {
  const tenants = new Map<string, Map<string, ResourceGrants>>();
  for (const { tenant, serverId, principalType, principalId, bits } of records) {
    const resources = tenants.get(tenant) ?? new Map<string, ResourceGrants>();
    tenants.set(tenant, resources);
    const grants = resources.get(serverId) ?? {
      ...{ publicBits: 0, users: new Map(), groups: new Map(), roles: new Map() },
    };
    resources.set(serverId, grants);
    const validBits = bits & ALL_ACL_BITS;
    if (principalType === 'public') grants.publicBits |= validBits;
    else if (principalType === 'user') addBits(grants.users, principalId, validBits);
    else if (principalType === 'group') addBits(grants.groups, principalId, validBits);
    else addBits(grants.roles, principalId, validBits);
  }
  return {
    getBits(principal, resourceId) {
      const grants = tenants.get(principal.tenant)?.get(resourceId);
      return grants ? combineBits(grants, principal) : 0;
    },
    listByPrefix: (principal, prefix) =>
      [...(tenants.get(principal.tenant) ?? [])].flatMap(([resourceId, grants]) => {
        const bits = resourceId.startsWith(prefix) ? combineBits(grants, principal) : 0;
        return bits === 0 ? [] : [[resourceId, bits]];
      }),
  };
}

/** The union of the caller's grants. A service principal has no account and no groups: only public and role grants apply. */
function combineBits(grants: ResourceGrants, { kind, userId, role, groups }: Principal): number {
  const sharedBits = grants.publicBits | (grants.roles.get(role) ?? 0);
  if (kind === 'service') return sharedBits;
  let bits = sharedBits | (grants.users.get(userId) ?? 0);
  if (grants.groups.size > 0) for (const group of groups) bits |= grants.groups.get(group) ?? 0;
  return bits;
}

function addBits(grants: Map<string, number>, id: string, bits: number): void {
  grants.set(id, (grants.get(id) ?? 0) | bits);
}

/**
 * Creates the check of the `access` section of operator servers. Without the section, the server is available to all
 * users. With it, only to the listed principals; an empty section lists no one.
 *
 * An email in `access.users` matches only local accounts, where each email has one verified account. The email claim of
 * an identity provider may be chosen by its user, so it grants nothing; such users are listed by id, group or role.
 */
function createDefinitionAccess(): (principal: Principal, server: ServerSnapshot) => boolean {
  const cache = new WeakMap<Access, Record<'users' | 'groups' | 'roles', ReadonlySet<string>>>();

  function toSets(access: Access) {
    const sets = cache.get(access) ?? {
      users: new Set(access.users?.flatMap((user) => [user, normalizeEmail(user)])),
      groups: new Set(access.groups),
      roles: new Set(access.roles),
    };
    cache.set(access, sets);
    return sets;
  }

  return (principal, { settings: { access } }) => {
    if (!access) return true;
    const { users, groups, roles } = toSets(access);
    const { kind, userId, role, email, issuer } = principal;
    if (roles.has(role)) return true;
    // A service principal is listed by role only, as for stored rows.
    if (kind === 'service') return false;
    if (users.has(userId) || (issuer === LOCAL_ISSUER && users.has(email))) return true;
    return groups.size > 0 && principal.groups.some((group) => groups.has(group));
  };
}
