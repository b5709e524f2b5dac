import type { ErrorCode } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { Registry } from '../servers/registry.ts';
import type { RequirePermission } from './roles.ts';

declare const allowed: unique symbol;

/** A server that this caller may use. Only `checkAccess` makes one, so a step that takes it cannot come before it. */
export type AllowedServer<S extends ServerSnapshot = ServerSnapshot> = S & { readonly [allowed]: true };

export interface AccessParts {
  /** The bits of the caller's role, as the configuration has them now. */
  readonly requirePermission: () => RequirePermission;
  /** Whether this caller may see this very server. */
  readonly canSee: (principal: Principal, server: ServerSnapshot) => boolean;
}

/** Allowed, or the one denial: what is forbidden and what does not exist are told alike. */
export function checkAccess(
  { requirePermission, canSee }: AccessParts,
  principal: Principal,
  server: ServerSnapshot | undefined,
  denialCode: ErrorCode,
): AllowedServer {
  requirePermission()(principal, 'USE');
  if (!server || !canSee(principal, server)) throw new GatewayError(denialCode);
  return server as AllowedServer;
}

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

/** The definition as this caller sees it. */
export function resolveServer(
  registry: Pick<Registry, 'find'>,
  principal: Principal,
  name: string,
): ServerSnapshot | undefined {
  return registry.find(principal.tenant, name);
}
