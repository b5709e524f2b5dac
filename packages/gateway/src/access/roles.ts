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

/** A role as it counts now. */
export interface Role {
  readonly name: string;
  readonly description: string;
  readonly isBuiltIn: boolean;
  readonly permissions: Readonly<Record<McpPermission, boolean>>;
  /** The bits that the configuration decides about. */
  readonly managed: readonly McpPermission[];
  /** 0 while nothing is stored about it. */
  readonly version: number;
  readonly updatedAt: number | null;
}

/** What roles there are and what they allow, at most two seconds old. Nobody has anything while that is not known. */
export interface Roles {
  permits(principal: Principal, permission: McpPermission): boolean;
  /** The same as a refusal: MCP_FORBIDDEN, or STORE_UNAVAILABLE while nobody can say. */
  readonly requirePermission: RequirePermission;
  /** Of a role, for whom nobody is calling as: the author of a server. */
  roleHasPermission(tenant: string, role: string, permission: McpPermission): boolean;
  exists(tenant: string, name: string): boolean;
  /** The name as it is written; a front end may write it in any case. Null for one that does not exist. */
  findName(tenant: string, input: string): string | null;
  /** Built-in ones first. */
  list(tenant: string): readonly Role[];
  /** Whether it is at most two seconds old: what is decided for good may not rest on less. */
  isFresh(): boolean;
  /** Reads now; rejects when the store does not answer. */
  refresh(): Promise<void>;
  readonly ready: Promise<void>;
  stop(): void;
}

export interface RolesParts {
  readonly store: RoleStore;
  /** The bits the file names. The same object for as long as the configuration does not change. */
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

  function current(): RoleTable | null {
    const configured = getConfiguredPermissions();
    if (lastConfigured !== configured) {
      lastConfigured = configured;
      table = records && buildRoleTable(records, configured);
      if (records) logOverridden(records, configured);
    }
    return table;
  }

  /** Who gave a bit over REST should find out why it is not there. */
  function logOverridden(all: readonly RoleRecord[], configured: ConfiguredPermissions): void {
    for (const { id, name, permissions } of all) {
      if (!isBuiltInRole(name)) continue;
      for (const permission of mcpPermissions) {
        const [configuredValue, stored] = [configured[name][permission], permissions[permission]];
        const logKey = JSON.stringify([id, permission, configuredValue]);
        if (
          configuredValue === undefined ||
          stored === undefined ||
          configuredValue === stored ||
          loggedKeys.has(logKey)
        )
          continue;
        loggedKeys.add(logKey);
        log('role_overridden_by_configuration', { role: name, permission, value: configuredValue });
      }
    }
  }

  function permits({ kind, tenant, role }: Principal, permission: McpPermission): boolean {
    // Administrators are people: a program is none, whatever its token says.
    if (kind === 'service' && role === 'ADMIN') return false;
    return roleHasPermission(tenant, role, permission);
  }

  function roleHasPermission(tenant: string, role: string, permission: McpPermission): boolean {
    const bit = permissionBits.get(permission) ?? 0;
    return ((current()?.getBits(tenant, role) ?? 0) & bit) !== 0;
  }

  const recordsOf = (tenant: string) => (records ?? []).filter((record) => record.tenant === tenant);

  function listNames(tenant: string): string[] {
    if (!records) return [];
    const custom = recordsOf(tenant).filter(({ name }) => !isBuiltInRole(name));
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
      const stored = new Map(recordsOf(tenant).map((record) => [record.name, record]));
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
    permissions: effectivePermissions(name, record?.permissions ?? {}, configured),
    managed: isBuiltIn
      ? mcpPermissions.filter((permission) => configured[name][permission] !== undefined)
      : [],
    version: record?.version ?? 0,
    updatedAt: record?.updatedAt ?? null,
  };
}

/** Throws unless the caller's role has the permission. */
export type RequirePermission = (principal: Principal, permission: McpPermission) => void;

/** The door has asked already; what changes other people's rights asks again. */
export function requireAdmin(principal: Principal): void {
  if (!isAdmin(principal)) throw new GatewayError('FORBIDDEN');
}

/** The bits that the configuration names for the built-in roles. */
export type ConfiguredPermissions = Readonly<Record<BuiltInRole, Readonly<PartialPermissions>>>;

/** A permission as a bit. A map: what nobody knows has none, whatever it is called. */
const permissionBits: ReadonlyMap<string, number> = new Map(
  mcpPermissions.map((permission, index) => [permission, 2 ** index]),
);

/**
 * What a role has: the defaults, then what somebody decided, then what the configuration names. A custom role has
 * nothing that nobody decided.
 */
function effectivePermissions(
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
interface RoleTable {
  /** 0 for a role that does not exist. */
  getBits(tenant: string, role: string): number;
}

function buildRoleTable(records: readonly RoleRecord[], configured: ConfiguredPermissions): RoleTable {
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
