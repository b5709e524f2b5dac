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
import type { ServerSnapshot } from '../servers/definition.ts';
import type { Registry } from '../servers/registry.ts';
import { type Acl, getGrantableBits, hasOperatorSource } from './acl.ts';
import type { Roles } from './roles.ts';
import { type Shareable, shareResource, viewSharing } from './shareResource.ts';

export interface ShareParts extends ManageParts, LeaseParts {
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
}

/** With whom a server is shared: for those who may share it. */
export async function getServerSharing(
  parts: ShareParts,
  principal: UserPrincipal,
  id: string,
): Promise<SharingView> {
  return viewSharing(parts, principal, toShareable(principal, requireShareable(parts, principal, id)));
}

/** Shares a server, or takes that back: all of a request or nothing of it. */
export function shareServer(
  parts: ShareParts,
  principal: UserPrincipal,
  id: string,
  request: ShareRequest,
): Promise<SharingView> {
  const { roles, registry } = parts;
  const { tenant } = principal;
  const server = registry.get(tenant, id)?.name;
  const eventBase = { kind: 'permission', action: 'acl.change', server, serverId: id } as const;
  const event = { ...eventBase, tenant, actor: actorOf(principal), door: 'rest' } as const;
  const authorize = async () => {
    roles.requirePermission(principal, 'SHARE');
    return toShareable(principal, requireShareable(parts, principal, id));
  };
  return shareResource(parts, principal, { event, authorize }, request);
}

function requireShareable(parts: ShareParts, principal: UserPrincipal, id: string): ManagedServer {
  const managed = getManagedServer(parts, principal, id);
  if (!hasAclBit(managed.bits, 'SHARE')) throw new GatewayError('MCP_ACL_FORBIDDEN');
  return managed;
}

function toShareable(principal: UserPrincipal, { server, bits }: ManagedServer): Shareable {
  return {
    ...{
      resourceId: server.id,
      callerBits: bits,
      grantableBits: getGrantableBits(server),
      isPublicByDefinition: isPublicByDefinition(server),
    },
    // An administrator can give it to somebody again.
    canRemoveLastOwner: isAdmin(principal),
    forbiddenCode: 'MCP_ACL_FORBIDDEN',
  };
}

/** By its definition. */
function isPublicByDefinition(server: ServerSnapshot): boolean {
  return hasOperatorSource(server) && server.settings.access === undefined;
}

export interface ManageParts {
  readonly registry: Pick<Registry, 'get' | 'list'>;
  readonly acl: Acl;
  readonly roles: Roles;
}

/** A server that this caller may at least look at, and what else they may do with it. */
interface ManagedServer {
  readonly server: ServerSnapshot;
  readonly bits: number;
}

/** By id; for servers of the operator that is their name. One that is not for the caller does not exist. */
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

/** Of all servers the caller may look at, by id. */
export function listManageBits(
  { registry, acl, roles }: ManageParts,
  principal: Principal,
): Record<string, number> {
  roles.requirePermission(principal, 'USE');
  const entries = registry
    .list(principal.tenant)
    .map((server) => [server.id, acl.getManageBits(principal, server)]);
  return Object.fromEntries((entries as [string, number][]).filter(([, bits]) => hasAclBit(bits, 'VIEW')));
}

export interface SearchParts {
  readonly users: Pick<UserStore, 'list'>;
  readonly roles: Roles;
}

/** Whom of their own tenant somebody may share with. Groups are known from tokens alone: the caller's own are offered. */
export async function searchPrincipals(
  { users, roles }: SearchParts,
  principal: UserPrincipal,
  { q, limit, types = ['user', 'group', 'role'] }: PrincipalSearch,
): Promise<FoundPrincipal[]> {
  roles.requirePermission(principal, 'SHARE');
  const { tenant } = principal;
  const matches = (name: string) => name.toLowerCase().includes(q.toLowerCase());
  const toNamedPrincipals = (type: 'group' | 'role', names: readonly string[]): FoundPrincipal[] =>
    types.includes(type)
      ? names.filter(matches).map((name) => ({ type, id: name, name, source: 'local' }))
      : [];

  const matchingUsers = types.includes('user')
    ? await users.list(tenant, { after: null, limit, search: q })
    : [];
  const foundUsers: FoundPrincipal[] = matchingUsers
    .filter(({ disabledAt }) => disabledAt === null)
    .map(({ id, name, email }) => ({ type: 'user', id, name, email, source: 'local' }));
  const rolesAndGroups = [
    ...toNamedPrincipals(
      'role',
      roles.list(tenant).map(({ name }) => name),
    ),
    ...toNamedPrincipals('group', principal.groups),
  ];
  return [...foundUsers, ...rolesAndGroups].slice(0, limit);
}
