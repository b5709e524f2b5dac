import type { UserVariableRecord, UserVariableStore } from '@behalf/gateway/ports';
import type { Tables } from './tables.ts';

export function createMemoryVariables({ variables }: Tables): UserVariableStore {
  const removeWhere = (gone: (variable: UserVariableRecord) => boolean) => {
    const ids = [...variables.values()].filter(gone).map((variable) => variable.id);
    for (const id of ids) variables.delete(id);
    return ids.length;
  };
  const of = (tenant: string, userId: string, serverId: string) => (variable: UserVariableRecord) =>
    variable.tenant === tenant && variable.userId === userId && variable.serverId === serverId;

  return {
    list: async (tenant, userId, serverId) =>
      [...variables.values()]
        .filter(of(tenant, userId, serverId))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((variable) => ({ ...variable })),
    async put(records) {
      for (const record of records) {
        const { id, tenant, userId, serverId, name } = record;
        const ours = of(tenant, userId, serverId);
        const twin = [...variables.values()].find((other) => ours(other) && other.name === name);
        if (twin && twin.id !== id) throw new Error('A variable of this key exists under another id');
        variables.set(id, { ...record });
      }
    },
    async remove(tenant, userId, serverId, name) {
      const ours = of(tenant, userId, serverId);
      return removeWhere((variable) => ours(variable) && variable.name === name) > 0;
    },
    removeAll: async (tenant, userId, serverId) => removeWhere(of(tenant, userId, serverId)),
    removeOfServer: async (tenant, serverId) =>
      removeWhere((variable) => variable.tenant === tenant && variable.serverId === serverId),
    removeOfUser: async (tenant, userId) =>
      removeWhere((variable) => variable.tenant === tenant && variable.userId === userId),
  };
}
