import { mcpPermissions, isBuiltInRole, roleDefaults } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { ChangeFeed, RoleRecord, RoleStore } from '../ports/index.ts';

/** Whose word a default is. */
const NOBODY = '-';
const MOST_TRIES = 5;

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
  async function fill(first: RoleRecord): Promise<boolean> {
    let role: RoleRecord | null = first;
    for (let tries = 0; role && lacks(role) && tries < MOST_TRIES; tries += 1) {
      const { tenant, name, version } = role;
      const filled = {
        ...role,
        permissions: { ...defaultsOf(name), ...role.permissions },
        version: version + 1,
        updatedAt: clock.now(),
        updatedBy: NOBODY,
      };
      if ((await store.replace(filled, version)) === 'replaced') return true;
      role = await store.find(tenant, name);
    }
    return false;
  }

  let count = 0;
  for (const role of await store.list()) if (await fill(role)) count += 1;
  if (count > 0) await changes.publish({ topic: 'roles', id: '*' });
  return count;
}

function lacks({ permissions }: RoleRecord): boolean {
  return mcpPermissions.some((permission) => permissions[permission] === undefined);
}

/** Of a custom role: nothing. */
export function defaultsOf(name: string): Record<string, boolean> {
  return Object.fromEntries(
    mcpPermissions.map((permission) => [permission, isBuiltInRole(name) && roleDefaults[name][permission]]),
  );
}
