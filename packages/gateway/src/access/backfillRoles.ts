import { mcpPermissions, isBuiltInRole, roleDefaults } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { ChangeFeed, RoleRecord, RoleStore } from '../ports/index.ts';

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
export function defaultPermissionsOf(name: string): Record<string, boolean> {
  return Object.fromEntries(
    mcpPermissions.map((permission) => [permission, isBuiltInRole(name) && roleDefaults[name][permission]]),
  );
}
