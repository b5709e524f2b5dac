import {
  type McpPermission,
  type PartialPermissions,
  isBuiltInRole,
  mcpPermissions,
  roleDefaults,
} from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { type Audit, actorOf } from '../audit/audit.ts';
import { withAudit } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type ChangeFeed, type RoleRecord, type RoleStore, type UserStore, roleId } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { type LeaseParts, roleLeaseKey, withMaintenanceLease } from '../replication/withLease.ts';
import type { Acl } from './acl.ts';
import { type ConfiguredPermissions, type Role, type Roles, requireAdmin } from './roles.ts';

interface NewRole {
  readonly name: string;
  readonly description: string;
  readonly permissions: PartialPermissions;
}

interface RoleChange {
  readonly description?: string | undefined;
  readonly permissions?: PartialPermissions | undefined;
}

/** Administration of the roles of the caller's tenant. */
export interface RoleAdmin {
  list(caller: UserPrincipal): Promise<readonly Role[]>;
  view(caller: UserPrincipal, name: string): Promise<Role>;
  create(caller: UserPrincipal, role: NewRole): Promise<Role>;
  /** Throws VERSION_CONFLICT if the stored version differs from `expectedVersion`; null accepts any version. */
  change(
    caller: UserPrincipal,
    name: string,
    change: RoleChange,
    expectedVersion: number | null,
  ): Promise<Role>;
  /** Removes the role and all grants to it. */
  remove(caller: UserPrincipal, name: string): Promise<void>;
}

interface RoleAdminParts extends LeaseParts {
  readonly roles: Roles;
  readonly store: RoleStore;
  readonly users: Pick<UserStore, 'countWithRole'>;
  readonly acl: Pick<Acl, 'removePrincipal'>;
  readonly getConfiguredPermissions: () => ConfiguredPermissions;
  readonly changes: ChangeFeed;
  readonly audit: Audit;
}

const MAX_ROLES = 200;
const MAX_ATTEMPTS = 5;

export function createRoleAdmin(parts: RoleAdminParts): RoleAdmin {
  const { roles, store, users, acl, getConfiguredPermissions, changes, clock, audit } = parts;

  async function readRole(tenant: string, name: string): Promise<Role> {
    await roles.refresh();
    const role = roles.list(tenant).find((other) => other.name === name);
    if (!role) throw new GatewayError('ROLE_NOT_FOUND');
    return role;
  }

  async function publishChange(tenant: string, name: string): Promise<void> {
    await changes.publish({ topic: 'roles', id: roleId(tenant, name) });
    await roles.refresh();
  }

  const createEvent = (caller: UserPrincipal, action: string, subject: string) => ({
    ...{ kind: 'permission' as const, action, subject },
    ...{ tenant: caller.tenant, actor: actorOf(caller), door: 'admin' as const },
  });

  async function insertRole({ tenant, userId }: UserPrincipal, role: NewRole): Promise<void> {
    await roles.refresh();
    // Names that differ only in case are easily confused, and lookups ignore case.
    if (roles.findName(tenant, role.name) !== null) throw new GatewayError('ROLE_TAKEN');
    if (roles.list(tenant).length >= MAX_ROLES) {
      throw new GatewayError('REQUEST_INVALID', { detail: 'The tenant has the maximum number of roles.' });
    }
    const permissions = { ...getDefaultPermissions(role.name), ...role.permissions };
    const now = clock.now();
    const record = {
      ...{ ...role, id: roleId(tenant, role.name), tenant, permissions, version: 1 },
      ...{ createdAt: now, updatedAt: now, updatedBy: userId },
    };
    if ((await store.insert(record)) === 'taken') throw new GatewayError('ROLE_TAKEN');
  }

  /** Returns the names of the changed fields. */
  async function updateRole(
    { tenant, userId }: UserPrincipal,
    name: string,
    change: RoleChange,
    expectedVersion: number | null,
  ): Promise<string[]> {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      const before = (await store.find(tenant, name)) ?? createUnstoredRole(tenant, name, clock.now());
      if (!before) throw new GatewayError('ROLE_NOT_FOUND');
      if (expectedVersion !== null && expectedVersion !== before.version)
        throw new GatewayError('VERSION_CONFLICT');
      const requested = omitManaged(name, change.permissions ?? {}, getConfiguredPermissions());
      const permissions = { ...before.permissions, ...requested };
      const description = change.description ?? before.description;
      const changed = [
        ...mcpPermissions.filter((permission) => permissions[permission] !== before.permissions[permission]),
        ...(description === before.description ? [] : ['description']),
      ];
      if (changed.length === 0) return [];
      const after: RoleRecord = {
        ...{ ...before, description, permissions, version: before.version + 1 },
        ...{ updatedAt: clock.now(), updatedBy: userId },
      };
      const outcome =
        before.version === 0 ? await store.insert(after) : await store.replace(after, before.version);
      if (outcome === 'inserted' || outcome === 'replaced') return changed;
      // A concurrent change won. The next iteration reads it: it conflicts with `expectedVersion`, or is merged.
    }
    throw new GatewayError('VERSION_CONFLICT');
  }

  async function removeRole({ tenant }: UserPrincipal, name: string): Promise<void> {
    if (!(await store.find(tenant, name))) throw new GatewayError('ROLE_NOT_FOUND');
    if ((await users.countWithRole(tenant, name)) > 0) throw new GatewayError('ROLE_IN_USE');
    // Grants are removed first, so that a failure leaves none for a later role of this name, and again afterwards for
    // grants that were written in between.
    await acl.removePrincipal(tenant, 'role', name);
    await store.remove(tenant, name);
    await acl.removePrincipal(tenant, 'role', name);
  }

  return {
    async list(caller) {
      requireAdmin(caller);
      await roles.refresh();
      return roles.list(caller.tenant);
    },
    async view(caller, name) {
      requireAdmin(caller);
      return readRole(caller.tenant, name);
    },
    create: (caller, role) =>
      withAudit(audit, createEvent(caller, 'role.create', role.name), async () => {
        requireAdmin(caller);
        await withMaintenanceLease(parts, roleLeaseKey(caller.tenant), () => insertRole(caller, role));
        await publishChange(caller.tenant, role.name);
        return { result: await readRole(caller.tenant, role.name), changed: listGranted(role.permissions) };
      }),
    change: (caller, name, change, expectedVersion) =>
      withAudit(audit, createEvent(caller, 'role.change', name), async () => {
        requireAdmin(caller);
        const changed = await updateRole(caller, name, change, expectedVersion);
        if (changed.length > 0) await publishChange(caller.tenant, name);
        return { result: await readRole(caller.tenant, name), changed };
      }),
    remove: (caller, name) =>
      withAudit(audit, createEvent(caller, 'role.delete', name), async () => {
        requireAdmin(caller);
        if (isBuiltInRole(name)) {
          throw new GatewayError('ROLE_MANAGED', { detail: 'Built-in roles cannot be deleted.' });
        }
        await withMaintenanceLease(parts, roleLeaseKey(caller.tenant), () => removeRole(caller, name));
        await publishChange(caller.tenant, name);
        return { result: undefined, changed: ['name'] };
      }),
  };
}

/** A built-in role without a stored record has version 0. */
function createUnstoredRole(tenant: string, name: string, now: number): RoleRecord | null {
  if (!isBuiltInRole(name)) return null;
  return {
    ...{ id: roleId(tenant, name), tenant, name, description: '', permissions: {}, version: 0 },
    ...{ createdAt: now, updatedAt: now, updatedBy: '' },
  };
}

/**
 * The requested permissions without those that the configuration file sets. Throws ROLE_MANAGED if a requested value
 * differs from the configured one, because the change would have no effect.
 */
function omitManaged(
  name: string,
  requested: PartialPermissions,
  configured: ConfiguredPermissions,
): PartialPermissions {
  const managed = isBuiltInRole(name) ? configured[name] : {};
  const entries = Object.entries(requested) as [McpPermission, boolean][];
  const conflicting = entries.filter(([key, value]) => managed[key] !== undefined && managed[key] !== value);
  if (conflicting.length > 0) {
    throw new GatewayError('ROLE_MANAGED', {
      errors: conflicting.map(([permission]) => ({
        path: `permissions.MCP_SERVERS.${permission}`,
        code: 'managed',
        message: 'This permission is set by interface.mcpServers in the configuration.',
      })),
    });
  }
  return Object.fromEntries(entries.filter(([permission]) => managed[permission] === undefined));
}

function listGranted(permissions: PartialPermissions): string[] {
  return ['name', ...mcpPermissions.filter((permission) => permissions[permission] === true)];
}

/** The `updatedBy` value of defaults that the gateway writes. */
const SYSTEM_ACTOR = '-';

/**
 * Stores the default of each permission that was added to the product after a role was stored. From then on the stored
 * value counts, so that an administrator's decision is not overridden by later defaults. Returns the number of updated roles.
 */
export async function backfillRoles({
  store,
  changes,
  clock,
}: {
  readonly store: RoleStore;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}): Promise<number> {
  /** Compare-and-set by version: on a concurrent change, reads the role again. */
  async function backfillRole(initial: RoleRecord): Promise<boolean> {
    let role: RoleRecord | null = initial;
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      if (!role || !hasMissingPermissions(role)) return false;
      const { tenant, name, version } = role;
      const updated: RoleRecord = {
        ...{ ...role, permissions: { ...getDefaultPermissions(name), ...role.permissions } },
        ...{ version: version + 1, updatedAt: clock.now(), updatedBy: SYSTEM_ACTOR },
      };
      if ((await store.replace(updated, version)) === 'replaced') return true;
      role = await store.find(tenant, name);
    }
    return false;
  }

  let count = 0;
  for (const role of await store.list()) if (await backfillRole(role)) count += 1;
  if (count > 0) await changes.publish({ topic: 'roles', id: '*' });
  return count;
}

function hasMissingPermissions({ permissions }: RoleRecord): boolean {
  return mcpPermissions.some((permission) => permissions[permission] === undefined);
}

/** A custom role has no permissions by default. */
function getDefaultPermissions(name: string): Record<string, boolean> {
  return Object.fromEntries(
    mcpPermissions.map((permission) => [permission, isBuiltInRole(name) && roleDefaults[name][permission]]),
  );
}
