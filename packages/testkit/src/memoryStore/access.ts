import { type AclStore, type RoleStore, roleId } from '@behalf/gateway/ports';
import { type Tables, assertUnique, compareBy, copyAll, copyOrNull, removeWhere } from './tables.ts';

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

export function createMemoryAcl({ acl }: Tables): AclStore {
  const byId = compareBy<{ id: string }>(({ id }) => id);

  return {
    list: async () => copyAll([...acl.values()].sort(byId)),
    listByServer: async (tenant, serverId) =>
      copyAll(
        [...acl.values()].filter((row) => row.tenant === tenant && row.serverId === serverId).sort(byId),
      ),
    async change({ put, remove }) {
      // Check all rows first: a rejected row must not leave another one behind.
      for (const row of put) assertUnique(acl, row, 'tenant', 'serverId', 'principalType', 'principalId');
      for (const row of put) acl.set(row.id, { ...row });
      for (const id of remove) acl.delete(id);
    },
    removeByServer: async (tenant, serverId) =>
      removeWhere(acl, (row) => row.tenant === tenant && row.serverId === serverId),
    removeByPrincipal: async (tenant, type, principalId) =>
      removeWhere(
        acl,
        (row) => row.tenant === tenant && row.principalType === type && row.principalId === principalId,
      ),
  };
}
