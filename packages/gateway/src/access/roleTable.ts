import {
  builtInRoles,
  isBuiltInRole,
  mcpPermissions,
  roleDefaults,
  type BuiltInRole,
  type McpPermission,
  type PartialPermissions,
} from '@behalf/contracts';
import type { RoleRecord } from '../ports/index.ts';

/** The bits that the configuration names for the built-in roles. */
export type ConfiguredPermissions = Readonly<Record<BuiltInRole, Readonly<PartialPermissions>>>;

/** A permission as a bit. A map: what nobody knows has none, whatever it is called. */
export const permissionBits: ReadonlyMap<string, number> = new Map(
  mcpPermissions.map((permission, index) => [permission, 2 ** index]),
);

/**
 * What a role has: the defaults, then what somebody decided, then what the configuration names. A custom role has
 * nothing that nobody decided.
 */
export function effectivePermissions(
  name: string,
  stored: Readonly<Record<string, boolean>>,
  configured: ConfiguredPermissions,
): Record<McpPermission, boolean> {
  const builtIn = isBuiltInRole(name) ? name : null;
  const isGranted = (permission: McpPermission): boolean => {
    const value =
      (builtIn && configured[builtIn][permission]) ??
      stored[permission] ??
      (builtIn && roleDefaults[builtIn][permission]);
    return value === true;
  };
  return Object.fromEntries(
    mcpPermissions.map((permission) => [permission, isGranted(permission)]),
  ) as Record<McpPermission, boolean>;
}

/** What every role of every tenant has, to be asked on each call. */
export interface RoleTable {
  /** 0 for a role that does not exist. */
  getBits(tenant: string, role: string): number;
}

export function buildRoleTable(records: readonly RoleRecord[], configured: ConfiguredPermissions): RoleTable {
  const builtInBits = new Map<string, number>(
    builtInRoles.map((role) => [role, toBits(effectivePermissions(role, {}, configured))]),
  );
  const tenants = new Map<string, Map<string, number>>();
  for (const { tenant, name, permissions } of records) {
    const roles = tenants.get(tenant) ?? new Map<string, number>();
    tenants.set(tenant, roles);
    roles.set(name, toBits(effectivePermissions(name, permissions, configured)));
  }
  return {
    getBits: (tenant, role) => tenants.get(tenant)?.get(role) ?? builtInBits.get(role) ?? 0,
  };
}

function toBits(permissions: Record<McpPermission, boolean>): number {
  return mcpPermissions.reduce(
    (bits, permission) => (permissions[permission] ? bits | (permissionBits.get(permission) ?? 0) : bits),
    0,
  );
}
