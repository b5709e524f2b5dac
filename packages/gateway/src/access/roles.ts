import {
  type BuiltInRole,
  type McpPermission,
  type PartialPermissions,
  builtInRoles,
  isBuiltInRole,
  mcpPermissions,
  roleDefaults,
} from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ChangeFeed, RoleRecord, RoleStore } from '../ports/index.ts';
import { type Principal, isAdmin } from '../principal/principal.ts';
import { createReplicatedValue } from '../replication/replicatedValue.ts';
import type { Log } from '../upstream/upstream.ts';

/** A role with its effective permissions. */
export interface Role {
  readonly name: string;
  readonly description: string;
  readonly isBuiltIn: boolean;
  readonly permissions: PermissionSet;
  /** The permissions that the configuration file sets. */
  readonly managed: readonly McpPermission[];
  /** 0 if the store has no record of the role. */
  readonly version: number;
  readonly updatedAt: number | null;
}

/** The roles and their permissions, at most two seconds old. While they are unknown, no role has any permission. */
export interface Roles {
  permits(principal: Principal, permission: McpPermission): boolean;
  /** Throws MCP_FORBIDDEN if the role lacks the permission, or STORE_UNAVAILABLE while the roles are unknown. */
  readonly requirePermission: RequirePermission;
  /** Whether a role has a permission, without a caller: used for the author of a server. */
  roleHasPermission(tenant: string, role: string, permission: McpPermission): boolean;
  exists(tenant: string, name: string): boolean;
  /** The stored spelling of a role name. The comparison ignores case. Null if the role does not exist. */
  findName(tenant: string, input: string): string | null;
  /** Built-in roles first. */
  list(tenant: string): readonly Role[];
  /** Whether the roles are at most two seconds old. A decision that is stored must not rest on older data. */
  isFresh(): boolean;
  /** Reads the roles now. Rejects if the store does not respond. */
  refresh(): Promise<void>;
  readonly ready: Promise<void>;
  stop(): void;
}

/** Throws unless the caller's role has the permission. */
export type RequirePermission = (principal: Principal, permission: McpPermission) => void;

/** The permissions of built-in roles that the configuration file sets. */
export type ConfiguredPermissions = Readonly<Record<BuiltInRole, Readonly<PartialPermissions>>>;

interface RolesParts {
  readonly store: RoleStore;
  /** Returns the same object until the configuration is reloaded. */
  readonly getConfiguredPermissions: () => ConfiguredPermissions;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly log: Log;
}

export function createRoles({ store, getConfiguredPermissions, changes, clock, log }: RolesParts): Roles {
  let records: readonly RoleRecord[] | null = null;
  let table: RoleTable | null = null;
  let lastConfigured: ConfiguredPermissions | null = null;
  const loggedKeys = new Set<string>();

  const replicatedRoles = createReplicatedValue<readonly RoleRecord[] | null>({
    ...{ topic: 'roles', read: () => store.list(), fallback: null, changes, clock, log },
    onChange(next) {
      records = next;
      lastConfigured = null;
    },
  });

  function getTable(): RoleTable | null {
    const configured = getConfiguredPermissions();
    if (lastConfigured !== configured) {
      lastConfigured = configured;
      table = records && buildRoleTable(records, configured);
      if (records) logOverridden(records, configured);
    }
    return table;
  }

  /** Logs each stored permission that the configuration file overrides, so that administrators find out why it has no effect. */
  function logOverridden(all: readonly RoleRecord[], configured: ConfiguredPermissions): void {
    for (const { id, name, permissions } of all) {
      if (!isBuiltInRole(name)) continue;
      for (const permission of mcpPermissions) {
        const [value, stored] = [configured[name][permission], permissions[permission]];
        const logKey = JSON.stringify([id, permission, value]);
        if (value === undefined || stored === undefined) continue;
        if (value === stored || loggedKeys.has(logKey)) continue;
        loggedKeys.add(logKey);
        log('role_overridden_by_configuration', { role: name, permission, value });
      }
    }
  }

  function permits({ kind, tenant, role }: Principal, permission: McpPermission): boolean {
    // A service principal is never an administrator, whatever its token claims.
    if (kind === 'service' && role === 'ADMIN') return false;
    return roleHasPermission(tenant, role, permission);
  }

  function roleHasPermission(tenant: string, role: string, permission: McpPermission): boolean {
    return getTable()?.getPermissions(tenant, role)?.[permission] === true;
  }

  const listRecords = (tenant: string) => (records ?? []).filter((record) => record.tenant === tenant);

  function listNames(tenant: string): string[] {
    if (!records) return [];
    const custom = listRecords(tenant).filter(({ name }) => !isBuiltInRole(name));
    return [...builtInRoles, ...custom.map(({ name }) => name)];
  }

  return {
    permits,
    requirePermission(principal, permission) {
      if (permits(principal, permission)) return;
      throw new GatewayError(records ? 'MCP_FORBIDDEN' : 'STORE_UNAVAILABLE');
    },
    roleHasPermission,
    exists: (tenant, name) => listNames(tenant).includes(name),
    findName(tenant, input) {
      const names = listNames(tenant);
      if (names.includes(input)) return input;
      return names.find((name) => name.toLowerCase() === input.toLowerCase()) ?? null;
    },
    list(tenant) {
      const stored = new Map(listRecords(tenant).map((record) => [record.name, record]));
      return listNames(tenant).map((name) => toRole(name, stored.get(name), getConfiguredPermissions()));
    },
    isFresh: () => replicatedRoles.isFresh(),
    refresh: () => replicatedRoles.refresh(),
    ready: replicatedRoles.ready,
    stop: () => replicatedRoles.stop(),
  };
}

function toRole(name: string, record: RoleRecord | undefined, configured: ConfiguredPermissions): Role {
  const isBuiltIn = isBuiltInRole(name);
  return {
    name,
    description: record?.description ?? '',
    isBuiltIn,
    permissions: getEffectivePermissions(name, record?.permissions ?? {}, configured),
    managed: isBuiltIn
      ? mcpPermissions.filter((permission) => configured[name][permission] !== undefined)
      : [],
    version: record?.version ?? 0,
    updatedAt: record?.updatedAt ?? null,
  };
}

/** Routes check this too. Functions that change other users' rights check it again. */
export function requireAdmin(principal: Principal): void {
  if (!isAdmin(principal)) throw new GatewayError('FORBIDDEN');
}

/**
 * The permissions of a role: the configuration file wins over the stored value, which wins over the default. A custom
 * role has no defaults and is not configurable in the file.
 */
function getEffectivePermissions(
  name: string,
  stored: Readonly<Record<string, boolean>>,
  configured: ConfiguredPermissions,
): PermissionSet {
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
  ) as PermissionSet;
}

type PermissionSet = Readonly<Record<McpPermission, boolean>>;

/** The effective permissions of every role of every tenant, for lookups on each call. */
interface RoleTable {
  /** Undefined for a role that does not exist. */
  getPermissions(tenant: string, role: string): PermissionSet | undefined;
}

function buildRoleTable(records: readonly RoleRecord[], configured: ConfiguredPermissions): RoleTable {
  const builtIn = new Map<string, PermissionSet>(
    builtInRoles.map((role) => [role, getEffectivePermissions(role, {}, configured)]),
  );
  const tenants = new Map<string, Map<string, PermissionSet>>();
  for (const { tenant, name, permissions } of records) {
    const roles = tenants.get(tenant) ?? new Map<string, PermissionSet>();
    tenants.set(tenant, roles);
    roles.set(name, getEffectivePermissions(name, permissions, configured));
  }
  return {
    getPermissions: (tenant, role) => tenants.get(tenant)?.get(role) ?? builtIn.get(role),
  };
}
