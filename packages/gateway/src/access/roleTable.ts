import {
  builtInRoles,
  isBuiltInRole,
  mcpPermissions,
  roleDefaults,
  type BuiltInRole,
  type McpPermission,
  type SomePermissions,
} from '@behalf/contracts';
import type { RoleRecord } from '../ports/index.ts';

/** The bits that the configuration names for the built-in roles. */
export type NamedPermissions = Readonly<Record<BuiltInRole, Readonly<SomePermissions>>>;

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
  named: NamedPermissions,
): Record<McpPermission, boolean> {
  const builtIn = isBuiltInRole(name) ? name : null;
  const has = (permission: McpPermission): boolean => {
    const word =
      (builtIn && named[builtIn][permission]) ??
      stored[permission] ??
      (builtIn && roleDefaults[builtIn][permission]);
    return word === true;
  };
  return Object.fromEntries(mcpPermissions.map((permission) => [permission, has(permission)])) as Record<
    McpPermission,
    boolean
  >;
}

/** What every role of every tenant has, to be asked on each call. */
export interface RoleTable {
  /** 0 for a role that does not exist. */
  bitsOf(tenant: string, role: string): number;
}

export function buildRoleTable(records: readonly RoleRecord[], named: NamedPermissions): RoleTable {
  const inEveryTenant = new Map<string, number>(
    builtInRoles.map((role) => [role, packed(effectivePermissions(role, {}, named))]),
  );
  const tenants = new Map<string, Map<string, number>>();
  for (const { tenant, name, permissions } of records) {
    const roles = tenants.get(tenant) ?? new Map<string, number>();
    tenants.set(tenant, roles);
    roles.set(name, packed(effectivePermissions(name, permissions, named)));
  }
  return {
    bitsOf: (tenant, role) => tenants.get(tenant)?.get(role) ?? inEveryTenant.get(role) ?? 0,
  };
}

function packed(permissions: Record<McpPermission, boolean>): number {
  return mcpPermissions.reduce(
    (bits, permission) => (permissions[permission] ? bits | (permissionBits.get(permission) ?? 0) : bits),
    0,
  );
}
