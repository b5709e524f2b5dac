import { builtInRoles, isBuiltInRole, mcpPermissions, type McpPermission } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { createReplicatedValue } from '../replication/replicatedValue.ts';
import type { ChangeFeed, RoleRecord, RoleStore } from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';
import type { Log } from '../upstream/parts.ts';
import type { RequirePermission } from './requirePermission.ts';
import {
  buildRoleTable,
  effectivePermissions,
  permissionBits,
  type NamedPermissions,
  type RoleTable,
} from './roleTable.ts';

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
  roleHas(tenant: string, role: string, permission: McpPermission): boolean;
  exists(tenant: string, name: string): boolean;
  /** The name as it is written; a front end may write it in any case. Null for one that does not exist. */
  nameOf(tenant: string, written: string): string | null;
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
  readonly named: () => NamedPermissions;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly log: Log;
}

export function createRoles({ store, named, changes, clock, log }: RolesParts): Roles {
  let records: readonly RoleRecord[] | null = null;
  let table: RoleTable | null = null;
  let builtWith: NamedPermissions | null = null;
  const told = new Set<string>();

  const followed = createReplicatedValue<readonly RoleRecord[] | null>({
    ...{ topic: 'roles', read: () => store.list(), fallback: null, changes, clock, log },
    onChange(next) {
      records = next;
      builtWith = null;
    },
  });

  function current(): RoleTable | null {
    const names = named();
    if (builtWith !== names) {
      builtWith = names;
      table = records && buildRoleTable(records, names);
      if (records) tellOverruled(records, names);
    }
    return table;
  }

  /** Who gave a bit over REST should find out why it is not there. */
  function tellOverruled(all: readonly RoleRecord[], names: NamedPermissions): void {
    for (const { id, name, permissions } of all) {
      if (!isBuiltInRole(name)) continue;
      for (const permission of mcpPermissions) {
        const [word, stored] = [names[name][permission], permissions[permission]];
        const line = JSON.stringify([id, permission, word]);
        if (word === undefined || stored === undefined || word === stored || told.has(line)) continue;
        told.add(line);
        log('role_decided_by_configuration', { role: name, permission, value: word });
      }
    }
  }

  function permits({ kind, tenant, role }: Principal, permission: McpPermission): boolean {
    // Administrators are people: a program is none, whatever its token says.
    if (kind === 'service' && role === 'ADMIN') return false;
    return roleHas(tenant, role, permission);
  }

  function roleHas(tenant: string, role: string, permission: McpPermission): boolean {
    const bit = permissionBits.get(permission) ?? 0;
    return ((current()?.bitsOf(tenant, role) ?? 0) & bit) !== 0;
  }

  const recordsOf = (tenant: string) => (records ?? []).filter((record) => record.tenant === tenant);

  function namesOf(tenant: string): string[] {
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
    roleHas,
    exists: (tenant, name) => namesOf(tenant).includes(name),
    nameOf(tenant, written) {
      const names = namesOf(tenant);
      if (names.includes(written)) return written;
      return names.find((name) => name.toLowerCase() === written.toLowerCase()) ?? null;
    },
    list(tenant) {
      const stored = new Map(recordsOf(tenant).map((record) => [record.name, record]));
      return namesOf(tenant).map((name) => roleOf(name, stored.get(name), named()));
    },
    isFresh: () => followed.isFresh(),
    refresh: () => followed.refresh(),
    ready: followed.ready,
    stop: () => followed.stop(),
  };
}

function roleOf(name: string, record: RoleRecord | undefined, named: NamedPermissions): Role {
  const isBuiltIn = isBuiltInRole(name);
  return {
    name,
    description: record?.description ?? '',
    isBuiltIn,
    permissions: effectivePermissions(name, record?.permissions ?? {}, named),
    managed: isBuiltIn ? mcpPermissions.filter((permission) => named[name][permission] !== undefined) : [],
    version: record?.version ?? 0,
    updatedAt: record?.updatedAt ?? null,
  };
}
