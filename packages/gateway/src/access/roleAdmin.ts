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

export interface NewRole {
  readonly name: string;
  readonly description: string;
  readonly permissions: PartialPermissions;
}

export interface RoleChange {
  readonly description?: string | undefined;
  readonly permissions?: PartialPermissions | undefined;
}

/** Roles of the caller's own tenant, by its administrators. */
export interface RoleAdmin {
  list(caller: UserPrincipal): Promise<readonly Role[]>;
  view(caller: UserPrincipal, name: string): Promise<Role>;
  create(caller: UserPrincipal, role: NewRole): Promise<Role>;
  /** `seen` is the version the caller decided on; null: whatever it is now. */
  change(
    caller: UserPrincipal,
    name: string,
    change: RoleChange,
    expectedVersion: number | null,
  ): Promise<Role>;
  /** With everything that was shared with it. */
  remove(caller: UserPrincipal, name: string): Promise<void>;
}

export interface RoleAdminParts extends LeaseParts {
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
    // Names that differ in case alone would be taken for each other.
    if (roles.findName(tenant, role.name) !== null) throw new GatewayError('ROLE_TAKEN');
    if (roles.list(tenant).length >= MAX_ROLES) {
      throw new GatewayError('REQUEST_INVALID', { detail: 'The tenant has the maximum number of roles.' });
    }
    const permissions = { ...defaultPermissionsOf(role.name), ...role.permissions };
    const now = clock.now();
    const record = {
      ...{ ...role, id: roleId(tenant, role.name), tenant, permissions, version: 1 },
      ...{ createdAt: now, updatedAt: now, updatedBy: userId },
    };
    if ((await store.insert(record)) === 'taken') throw new GatewayError('ROLE_TAKEN');
  }

  /** Returns what changed. */
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
      const permissions = {
        ...before.permissions,
        ...withoutManaged(name, change.permissions ?? {}, getConfiguredPermissions()),
      };
      const description = change.description ?? before.description;
      const changed = mcpPermissions.filter(
        (bit) => permissions[bit] !== before.permissions[bit],
      ) as string[];
      if (description !== before.description) changed.push('description');
      if (changed.length === 0) return [];
      const after: RoleRecord = {
        ...{ ...before, description, permissions, version: before.version + 1 },
        ...{ updatedAt: clock.now(), updatedBy: userId },
      };
      const outcome =
        before.version === 0 ? await store.insert(after) : await store.replace(after, before.version);
      if (outcome === 'inserted' || outcome === 'replaced') return changed;
      // Somebody was faster: who named a version is told, who did not is laid over theirs.
    }
    throw new GatewayError('VERSION_CONFLICT');
  }

  async function removeRole({ tenant }: UserPrincipal, name: string): Promise<void> {
    if (!(await store.find(tenant, name))) throw new GatewayError('ROLE_NOT_FOUND');
    if ((await users.countWithRole(tenant, name)) > 0) throw new GatewayError('ROLE_IN_USE');
    // Before, so that no failure leaves grants for the next role of this name; after, for who shares meanwhile.
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

/** A built-in role that nobody has changed yet: version 0. */
function createUnstoredRole(tenant: string, name: string, now: number): RoleRecord | null {
  if (!isBuiltInRole(name)) return null;
  return {
    ...{ id: roleId(tenant, name), tenant, name, description: '', permissions: {}, version: 0 },
    ...{ createdAt: now, updatedAt: now, updatedBy: '' },
  };
}

/** Without what the configuration says itself. What it says otherwise is refused: the change would have no effect. */
function withoutManaged(
  name: string,
  requested: PartialPermissions,
  configured: ConfiguredPermissions,
): PartialPermissions {
  const managed = isBuiltInRole(name) ? configured[name] : {};
  const bits = Object.keys(requested) as McpPermission[];
  const conflicting = bits.filter((bit) => managed[bit] !== undefined && managed[bit] !== requested[bit]);
  if (conflicting.length > 0) {
    throw new GatewayError('ROLE_MANAGED', {
      errors: conflicting.map((bit) => ({
        path: `permissions.MCP_SERVERS.${bit}`,
        code: 'managed',
        message: 'This permission is set by interface.mcpServers in the configuration.',
      })),
    });
  }
  return Object.fromEntries(
    bits.filter((bit) => managed[bit] === undefined).map((bit) => [bit, requested[bit]]),
  );
}

function listGranted(permissions: PartialPermissions): string[] {
  return ['name', ...mcpPermissions.filter((bit) => permissions[bit] === true)];
}

/** Whose word a default is. */
const SYSTEM_ACTOR = '-';
const MAX_BACKFILL_ATTEMPTS = 5;

/**
 * A permission that is younger than a stored role gets its default there, once: from then on the bit is there, and what
 * is there is somebody's choice. How many roles were filled.
 */
export async function backfillRoles(parts: {
  readonly store: RoleStore;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}): Promise<number> {
  const { store, changes, clock } = parts;

  /** By version: whoever decides meanwhile is read again, never overwritten. */
  async function backfillRole(initial: RoleRecord): Promise<boolean> {
    let role: RoleRecord | null = initial;
    for (
      let attempts = 0;
      role && hasMissingPermissions(role) && attempts < MAX_BACKFILL_ATTEMPTS;
      attempts += 1
    ) {
      const { tenant, name, version } = role;
      const updated = {
        ...role,
        permissions: { ...defaultPermissionsOf(name), ...role.permissions },
        version: version + 1,
        updatedAt: clock.now(),
        updatedBy: SYSTEM_ACTOR,
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

/** Of a custom role: nothing. */
function defaultPermissionsOf(name: string): Record<string, boolean> {
  return Object.fromEntries(
    mcpPermissions.map((permission) => [permission, isBuiltInRole(name) && roleDefaults[name][permission]]),
  );
}
