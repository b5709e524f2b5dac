import { hasAclBit } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { Registry } from '../registry/registry.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Acl } from './acl.ts';
import type { Roles } from './roles.ts';

export interface ManageParts {
  readonly registry: Pick<Registry, 'get' | 'list'>;
  readonly acl: Acl;
  readonly roles: Roles;
}

/** A server that this caller may at least look at, and what else they may do with it. */
export interface ManagedServer {
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
