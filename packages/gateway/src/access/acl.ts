import { ALL_ACL_BITS, type Access, type PrincipalType, aclBits, hasAclBit } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { LOCAL_ISSUER, normalizeEmail } from '../identity/accounts.ts';
import { type AclRecord, type AclStore, type ChangeFeed, aclId } from '../ports/index.ts';
import { type Principal, isAdmin } from '../principal/principal.ts';
import { createReplicatedValue } from '../replication/replicatedValue.ts';
import type { ServerSnapshot } from '../servers/definition.ts';
import { EVERY_TENANT } from '../servers/snapshot.ts';
import type { Log } from '../upstream/upstream.ts';

/** Who may do what with which server, at most two seconds old. Nobody may do anything while that is not known. */
export interface Acl {
  /** For using it: what the definition and the rows give this caller, together. */
  getUseBits(principal: Principal, server: ServerSnapshot): number;
  /** Whether they may use it. An administrator of the tenant uses what is shared with them, like everybody. */
  readonly canUse: (principal: Principal, server: ServerSnapshot) => boolean;
  /** For looking after it: administrators of the tenant may, and nobody edits what the operator defines. */
  getManageBits(principal: Principal, server: ServerSnapshot): number;
  /** Of a block or a set: what the rows give this caller. Nothing else gives anybody anything of one. */
  getSavedBits(principal: Principal, kind: SavedKindName, id: string): number;
  /** Of all of them that the rows give this caller something of, by id. */
  listSavedBits(principal: Principal, kind: SavedKindName): ReadonlyMap<string, number>;
  /** Straight from the store. */
  listRows(tenant: string, serverId: string): Promise<AclRecord[]>;
  /** All of it or nothing, and counted here when it resolves. */
  write(change: { put: readonly AclRecord[]; remove: readonly string[] }): Promise<void>;
  /** Who creates a server has every bit of it. */
  grantOwner(server: { tenant: string; id: string }, userId: string): Promise<void>;
  /** The server is gone: a later one of the same id starts with nobody. */
  removeServer(tenant: string, serverId: string): Promise<void>;
  /** The user, group or role is gone. */
  removePrincipal(tenant: string, type: PrincipalType, principalId: string): Promise<void>;
  /** Reads now; rejects when the store does not answer. */
  refresh(): Promise<void>;
  readonly ready: Promise<void>;
  stop(): void;
}

export interface AclParts {
  readonly store: AclStore;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly log: Log;
}

/** What can be given of a server that only its definition can change. */
const OPERATOR_SERVER_BITS = aclBits.VIEW | aclBits.SHARE;

export function createAcl({ store, changes, clock, log }: AclParts): Acl {
  const isAllowedByDefinition = createOperatorAccess();
  const replicatedIndex = createReplicatedValue<AclIndex | null>({
    read: async () => buildAclIndex(await store.list()),
    ...{ topic: 'acl', fallback: null, changes, clock, log },
  });

  function getUseBits(principal: Principal, server: ServerSnapshot): number {
    const index = replicatedIndex.current();
    if (!index || !isInTenant(principal, server)) return 0;
    const stored = index.getBits(principal, principal.tenant, server.id);
    return hasOperatorSource(server) && isAllowedByDefinition(principal, server)
      ? stored | aclBits.VIEW
      : stored;
  }

  function getManageBits(principal: Principal, server: ServerSnapshot): number {
    if (!replicatedIndex.current() || !isInTenant(principal, server)) return 0;
    const bits = isAdmin(principal) ? ALL_ACL_BITS : getUseBits(principal, server);
    return bits & getGrantableBits(server);
  }

  async function publishChange(id: string): Promise<void> {
    await changes.publish({ topic: 'acl', id });
    await replicatedIndex.refresh();
  }

  return {
    getUseBits,
    canUse: (principal, server) => hasAclBit(getUseBits(principal, server), 'VIEW'),
    getManageBits,
    getSavedBits: (principal, kind, id) =>
      replicatedIndex.current()?.getBits(principal, principal.tenant, toAclResourceId(kind, id)) ?? 0,
    listSavedBits(principal, kind) {
      const prefix = toAclResourceId(kind, '');
      const rows = replicatedIndex.current()?.listByPrefix(principal, principal.tenant, prefix) ?? [];
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

/** What people save and share besides servers. */
export type SavedKindName = 'block' | 'set';

/** How rows name it. No server can be called so: a name has no slash, and an id that we give has none either. */
export function toAclResourceId(kind: SavedKindName, id: string): string {
  return `${kind}/${id}`;
}

/** Which bits of a server there are to have. */
export function getGrantableBits(server: ServerSnapshot): number {
  return hasOperatorSource(server) ? OPERATOR_SERVER_BITS : ALL_ACL_BITS;
}

/** Defined in the file, or by an administrator over it. */
export function hasOperatorSource({ source }: ServerSnapshot): boolean {
  return source !== 'user';
}

/** Servers of the file are every tenant's; no other one is ever anything to somebody of another tenant. */
function isInTenant(principal: Principal, server: ServerSnapshot): boolean {
  return server.tenant === principal.tenant || (server.source === 'yaml' && server.tenant === EVERY_TENANT);
}

interface ResourceGrants {
  publicBits: number;
  readonly users: Map<string, number>;
  readonly groups: Map<string, number>;
  readonly roles: Map<string, number>;
}

/** All rows, by what they are asked for on each call. */
interface AclIndex {
  /** What the rows of this server in this tenant give the caller, together. */
  getBits(principal: Principal, tenant: string, serverId: string): number;
  /** Of the names that begin like this those with any row that gives the caller something, with what it gives. */
  listByPrefix(principal: Principal, tenant: string, prefix: string): [name: string, bits: number][];
}

function buildAclIndex(records: readonly AclRecord[]): AclIndex {
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

interface AccessLists {
  readonly users: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly roles: ReadonlySet<string>;
}

/** Whether a server of the operator is for this caller by the definition alone. */
type OperatorAccess = (principal: Principal, server: ServerSnapshot) => boolean;

/**
 * Without `access` it is for everybody; with it for those it lists, and an empty one lists nobody.
 *
 * An email names an account of our own, where it is what the account is called and there is one for each mailbox. What an
 * identity provider writes into a token's email may be whatever its user typed in, so it opens nothing here: people who
 * sign in there are listed by id, by group or by role.
 */
function createOperatorAccess(): OperatorAccess {
  const cache = new WeakMap<Access, AccessLists>();

  function listsOf(access: Access): AccessLists {
    const lists = cache.get(access) ?? {
      users: new Set(access.users?.flatMap((user) => [user, normalizeEmail(user)])),
      groups: new Set(access.groups),
      roles: new Set(access.roles),
    };
    cache.set(access, lists);
    return lists;
  }

  return (principal, { settings: { access } }) => {
    if (!access) return true;
    const { users, groups, roles } = listsOf(access);
    const { kind, userId, role, email, issuer } = principal;
    if (roles.has(role)) return true;
    // As for stored rows: a program is listed by its role or not at all.
    if (kind === 'service') return false;
    if (users.has(userId) || (issuer === LOCAL_ISSUER && users.has(email))) return true;
    return groups.size > 0 && principal.groups.some((group) => groups.has(group));
  };
}
