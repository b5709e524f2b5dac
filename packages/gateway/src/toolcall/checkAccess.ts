import type { ErrorCode } from '@behalf/contracts';
import type { RequirePermission } from '../access/requirePermission.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';

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
