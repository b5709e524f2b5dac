import type { Principal } from '../principal/principal.ts';
import type { Registry } from '../registry/registry.ts';
import { checkAccess, type AccessParts, type AllowedServer } from './checkAccess.ts';
import { resolveServer } from './resolveServer.ts';

export interface ServerLookupParts {
  readonly registry: Pick<Registry, 'find' | 'list'>;
}

/** The server of this name that the caller may use, or "no such server". */
export function findServer(
  parts: ServerLookupParts & AccessParts,
  principal: Principal,
  name: string,
): AllowedServer {
  const server = resolveServer(parts.registry, principal, name);
  return checkAccess(parts, principal, server, 'MCP_SERVER_NOT_FOUND');
}

/** All of them. */
export function listAllowedServers(
  parts: ServerLookupParts & AccessParts,
  principal: Principal,
): AllowedServer[] {
  parts.requirePermission()(principal, 'USE');
  return parts.registry
    .list(principal.tenant)
    .filter((server) => parts.canSee(principal, server))
    .map((server) => checkAccess(parts, principal, server, 'MCP_SERVER_NOT_FOUND'));
}
