import { roleId, type RoleStore } from '@behalf/gateway/ports';
import { copiesOf, copyOf, inOrderOf } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryRoles({ roles }: Tables): RoleStore {
  return {
    list: async () => copiesOf([...roles.values()].sort(inOrderOf(({ id }) => id))),
    find: async (tenant, name) => copyOf(roles.get(roleId(tenant, name))),
    async insert(role) {
      if (roles.has(role.id)) return 'taken';
      roles.set(role.id, { ...role });
      return 'inserted';
    },
    async replace(role, seen) {
      const current = roles.get(role.id);
      if (current?.tenant !== role.tenant) return 'missing';
      if (current.version !== seen) return 'version_conflict';
      roles.set(role.id, { ...role });
      return 'replaced';
    },
    remove: async (tenant, name) => roles.delete(roleId(tenant, name)),
  };
}
