import type { AclStore } from '@behalf/gateway/ports';
import { copyAll, compareBy, assertUnique, removeWhere } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryAcl({ acl }: Tables): AclStore {
  const byId = compareBy<{ id: string }>(({ id }) => id);

  return {
    list: async () => copyAll([...acl.values()].sort(byId)),
    listByServer: async (tenant, serverId) =>
      copyAll(
        [...acl.values()].filter((row) => row.tenant === tenant && row.serverId === serverId).sort(byId),
      ),
    async change({ put, remove }) {
      // All of them first: one that is refused must not leave another behind.
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
