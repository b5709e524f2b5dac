import {
  type FoundPrincipal,
  type PrincipalSearch,
  type ShareRequest,
  type SharingView,
  hasAclBit,
} from '@behalf/contracts';
import { type Audit, actorOf } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserStore } from '../ports/index.ts';
import { type Principal, type UserPrincipal, isAdmin } from '../principal/principal.ts';
import type { LeaseParts } from '../replication/withLease.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { Registry } from '../servers/registry.ts';
import { type Acl, getGrantableBits, hasOperatorSource } from './acl.ts';
import type { Roles } from './roles.ts';
import { type Shareable, shareResource, viewSharing } from './shareResource.ts';

export interface ShareParts extends ManageParts, LeaseParts {
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
}

/** The principals with whom a server is shared. Requires SHARE on the server. */
export async function getServerSharing(
  parts: ShareParts,
  principal: UserPrincipal,
  id: string,
): Promise<SharingView> {
  return viewSharing(parts, principal, requireShareable(parts, principal, id));
}

/** Changes with whom a server is shared, atomically. */
export function shareServer(
  parts: ShareParts,
  principal: UserPrincipal,
  id: string,
  request: ShareRequest,
): Promise<SharingView> {
  const { tenant } = principal;
  const server = parts.registry.get(tenant, id)?.name;
  const eventBase = { kind: 'permission', action: 'acl.change', server, serverId: id } as const;
  const event = { ...eventBase, tenant, actor: actorOf(principal), door: 'rest' } as const;
  const authorize = () => {
    parts.roles.requirePermission(principal, 'SHARE');
    return requireShareable(parts, principal, id);
  };
  return shareResource(parts, principal, { event, authorize }, request);
}

function requireShareable(parts: ManageParts, principal: UserPrincipal, id: string): Shareable {
  const { server, bits } = getManagedServer(parts, principal, id);
  if (!hasAclBit(bits, 'SHARE')) throw new GatewayError('MCP_ACL_FORBIDDEN');
  return {
    resourceId: server.id,
    callerBits: bits,
    grantableBits: getGrantableBits(server),
    isPublicByDefinition: hasOperatorSource(server) && server.settings.access === undefined,
    // An administrator can grant the server to a new owner later.
    canRemoveLastOwner: isAdmin(principal),
    forbiddenCode: 'MCP_ACL_FORBIDDEN',
  };
}

export interface ManageParts {
  readonly registry: Pick<Registry, 'get' | 'list'>;
  readonly acl: Acl;
  readonly roles: Roles;
}

interface ManagedServer {
  readonly server: ServerSnapshot;
  /** The caller's bits for managing the server. */
  readonly bits: number;
}

/** A server by id that the caller may manage; throws MCP_SERVER_NOT_FOUND otherwise. */
export function getManagedServer(
  { registry, acl, roles }: ManageParts,
  principal: Principal,
  id: string,
): ManagedServer {
  roles.requirePermission(principal, 'USE');
  const server = registry.get(principal.tenant, id);
  const bits = server ? acl.getManageBits(principal, server) : 0;
  if (!server || !hasAclBit(bits, 'VIEW')) throw new GatewayError('MCP_SERVER_NOT_FOUND');
  return { server, bits };
}

/** The management bits of every server that the caller may view, by server id. */
export function listManageBits(
  { registry, acl, roles }: ManageParts,
  principal: Principal,
): Record<string, number> {
  roles.requirePermission(principal, 'USE');
  return Object.fromEntries(
    registry
      .list(principal.tenant)
      .map((server): [string, number] => [server.id, acl.getManageBits(principal, server)])
      .filter(([, bits]) => hasAclBit(bits, 'VIEW')),
  );
}

export interface SearchParts {
  readonly users: Pick<UserStore, 'list'>;
  readonly roles: Roles;
}

/**
 * Finds users, groups and roles of the caller's tenant to share with. Groups are known only from tokens, so the search
 * covers the caller's own groups.
 */
export async function searchPrincipals(
  { users, roles }: SearchParts,
  principal: UserPrincipal,
  { q, limit, types = ['user', 'group', 'role'] }: PrincipalSearch,
): Promise<FoundPrincipal[]> {
  roles.requirePermission(principal, 'SHARE');
  const { tenant } = principal;
  const toNamedPrincipals = (type: 'group' | 'role', names: readonly string[]): FoundPrincipal[] =>
    names
      .filter((name) => types.includes(type) && name.toLowerCase().includes(q.toLowerCase()))
      .map((name) => ({ type, id: name, name, source: 'local' }));

  const matchingUsers = types.includes('user')
    ? await users.list(tenant, { after: null, limit, search: q })
    : [];
  const foundUsers: FoundPrincipal[] = matchingUsers
    .filter(({ disabledAt }) => disabledAt === null)
    .map(({ id, name, email }) => ({ type: 'user', id, name, email, source: 'local' }));
  const roleNames = roles.list(tenant).map(({ name }) => name);
  return [
    ...foundUsers,
    ...toNamedPrincipals('role', roleNames),
    ...toNamedPrincipals('group', principal.groups),
  ].slice(0, limit);
}
