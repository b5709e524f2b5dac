import { roleDefaults, type BuiltInRole, type McpPermission } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';

/** Throws unless the caller's role has the permission. */
export type RequirePermission = (principal: Principal, permission: McpPermission) => void;

/** `named` are the bits the configuration names; a role that neither names nor defaults know has none. */
export function createRolePermissions(
  named: Record<BuiltInRole, Partial<Record<McpPermission, boolean>>>,
): RequirePermission {
  const bits = new Map<string, Partial<Record<McpPermission, boolean>>>(
    Object.entries(roleDefaults).map(([role, defaults]) => [
      role,
      { ...defaults, ...named[role as BuiltInRole] },
    ]),
  );
  return (principal, permission) => {
    if (bits.get(principal.role)?.[permission] !== true) throw new GatewayError('MCP_FORBIDDEN');
  };
}

/** The same question, for what is left out rather than refused. */
export function permits(
  require: RequirePermission,
  principal: Principal,
  permission: McpPermission,
): boolean {
  try {
    require(principal, permission);
    return true;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}
