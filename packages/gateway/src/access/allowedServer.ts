import type { ErrorCode } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { Registry } from '../servers/registry.ts';
import type { RequirePermission } from './roles.ts';

declare const allowed: unique symbol;

/**
 * A server that the caller may use. Only `checkAccess` produces this type, so a step that takes it cannot run before
 * the check.
 */
export type AllowedServer<S extends ServerSnapshot = ServerSnapshot> = S & { readonly [allowed]: true };

export interface AccessParts {
  /** Checks a permission of the caller's role against the current configuration. */
  readonly requirePermission: () => RequirePermission;
  /** Whether the caller may use this server, according to the ACL. */
  readonly canSee: (principal: Principal, server: ServerSnapshot) => boolean;
}

/** Throws `denialCode` for a forbidden server and for a missing one, so that callers cannot tell them apart. */
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

/** The server with this name that the caller may use; throws MCP_SERVER_NOT_FOUND otherwise. */
export function findServer(
  parts: ServerLookupParts & AccessParts,
  principal: Principal,
  name: string,
): AllowedServer {
  return checkAccess(
    parts,
    principal,
    resolveServer(parts.registry, principal, name),
    'MCP_SERVER_NOT_FOUND',
  );
}

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

/** The server with this name in the caller's tenant. Does not check access. */
export function resolveServer(
  registry: Pick<Registry, 'find'>,
  principal: Principal,
  name: string,
): ServerSnapshot | undefined {
  return registry.find(principal.tenant, name);
}
