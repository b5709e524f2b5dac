import { roleId, type RoleStore } from '@behalf/gateway/ports';
import { copyAll, copyOrNull, compareBy } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryRoles({ roles }: Tables): RoleStore {
  return {
    list: async () => copyAll([...roles.values()].sort(compareBy(({ id }) => id))),
    find: async (tenant, name) => copyOrNull(roles.get(roleId(tenant, name))),
    async insert(role) {
      if (roles.has(role.id)) return 'taken';
      roles.set(role.id, { ...role });
      return 'inserted';
    },
    async replace(role, expectedVersion) {
      const current = roles.get(role.id);
      if (current?.tenant !== role.tenant) return 'missing';
      if (current.version !== expectedVersion) return 'version_conflict';
      roles.set(role.id, { ...role });
      return 'replaced';
    },
    remove: async (tenant, name) => roles.delete(roleId(tenant, name)),
  };
}
