import type { UserVariableRecord, UserVariableStore } from '@behalf/gateway/ports';
import { copyAll, compareBy, assertUnique, removeWhere } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryVariables({ variables }: Tables): UserVariableStore {
  const of = (tenant: string, userId: string, serverId: string) => (variable: UserVariableRecord) =>
    variable.tenant === tenant && variable.userId === userId && variable.serverId === serverId;

  return {
    list: async (tenant, userId, serverId) =>
      copyAll(
        [...variables.values()].filter(of(tenant, userId, serverId)).sort(compareBy(({ name }) => name)),
      ),
    async put(records) {
      for (const record of records) {
        assertUnique(variables, record, 'tenant', 'userId', 'serverId', 'name');
        variables.set(record.id, { ...record });
      }
    },
    async remove(tenant, userId, serverId, name) {
      const ours = of(tenant, userId, serverId);
      return removeWhere(variables, (variable) => ours(variable) && variable.name === name) > 0;
    },
    removeAll: async (tenant, userId, serverId) => removeWhere(variables, of(tenant, userId, serverId)),
    removeByServer: async (tenant, serverId) =>
      removeWhere(variables, (variable) => variable.tenant === tenant && variable.serverId === serverId),
    removeByUser: async (tenant, userId) =>
      removeWhere(variables, (variable) => variable.tenant === tenant && variable.userId === userId),
  };
}
