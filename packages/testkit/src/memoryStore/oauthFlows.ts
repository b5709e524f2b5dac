import {
  type OAuthClientStore,
  type OAuthFlowRecord,
  type OAuthFlowStore,
  oauthClientId,
} from '@behalf/gateway/ports';
import { checkFlowLimits, isPending, matchesFlowCondition, pickFlowChanges } from '@behalf/stores';
import { type Tables, copyOrNull, removeWhere } from './tables.ts';

export function createMemoryOAuthFlows(): OAuthFlowStore {
  const flows = new Map<string, OAuthFlowRecord>();
  const toPendingCount = (pending: OAuthFlowRecord[]) => ({
    count: pending.length,
    earliestExpiry: Math.min(...pending.map(({ expiresAt }) => expiresAt)),
  });
  const listPending = (tenant: string, now: number) =>
    [...flows.values()].filter((flow) => flow.tenant === tenant && isPending(flow, now));

  return {
    async insert(flow, limits, now) {
      const tenantFlows = listPending(flow.tenant, now);
      const userFlows = tenantFlows.filter(({ userId }) => userId === flow.userId);
      const existing = userFlows.find(({ serverId }) => serverId === flow.serverId);
      if (existing) return { kind: 'pending', flow: { ...existing } };
      const exceeded = checkFlowLimits(toPendingCount(userFlows), toPendingCount(tenantFlows), limits);
      if (exceeded !== null) return exceeded;
      flows.set(flow.id, { ...flow });
      return { kind: 'inserted' };
    },
    async getRetryAt(tenant, userId, limits, now) {
      const tenantFlows = listPending(tenant, now);
      const userFlows = tenantFlows.filter((flow) => flow.userId === userId);
      return checkFlowLimits(toPendingCount(userFlows), toPendingCount(tenantFlows), limits)?.retryAt ?? null;
    },
    find: async (id) => copyOrNull(flows.get(id)),
    findByState: async (stateHash) =>
      copyOrNull([...flows.values()].find((flow) => flow.stateHash === stateHash)),
    findPending: async (tenant, userId, serverId, now) =>
      copyOrNull(
        listPending(tenant, now).find((flow) => flow.userId === userId && flow.serverId === serverId),
      ),
    async transition(id, condition, patch) {
      const flow = flows.get(id);
      if (!flow || !matchesFlowCondition(flow, condition)) return null;
      const next = { ...flow, ...pickFlowChanges(patch) };
      flows.set(id, next);
      return { ...next };
    },
    removeByUser: async (tenant, userId, serverId) =>
      removeWhere(
        flows,
        (flow) =>
          flow.tenant === tenant &&
          flow.userId === userId &&
          (serverId === undefined || flow.serverId === serverId),
      ),
    removeByServer: async (tenant, serverId) =>
      removeWhere(flows, (flow) => flow.tenant === tenant && flow.serverId === serverId),
    removeExpired: async (now) => removeWhere(flows, ({ removeAt }) => removeAt <= now),
  };
}

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
