import { oauthClientId, type OAuthClientStore } from '@behalf/gateway/ports';
import { copyOrNull, removeWhere } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryOAuthClients({ oauthClients }: Tables): OAuthClientStore {
  return {
    async insert(client) {
      const first = oauthClients.get(client.id) ?? { ...client };
      oauthClients.set(client.id, first);
      return { ...first };
    },
    find: async (key) => copyOrNull(oauthClients.get(oauthClientId(key))),
    async replace(client, clientId) {
      if (oauthClients.get(client.id)?.clientId !== clientId) return false;
      oauthClients.set(client.id, { ...client });
      return true;
    },
    async remove(key, clientId) {
      const id = oauthClientId(key);
      return oauthClients.get(id)?.clientId === clientId && oauthClients.delete(id);
    },
    removeByServer: async (tenant, serverId) =>
      removeWhere(oauthClients, (client) => client.tenant === tenant && client.serverId === serverId),
  };
}
