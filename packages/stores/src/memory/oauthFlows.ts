import type { OAuthFlowRecord, OAuthFlowStore } from '@behalf/gateway/ports';
import { flowChange, flowConditionHolds, isPending, lackOfPlace } from '../flowRules.ts';
import { copyOf, removeWhere } from './records.ts';

export function createMemoryOAuthFlows(): OAuthFlowStore {
  const flows = new Map<string, OAuthFlowRecord>();
  const count = (pending: OAuthFlowRecord[]) => ({
    count: pending.length,
    earliestExpiry: Math.min(...pending.map(({ expiresAt }) => expiresAt)),
  });
  const pendingIn = (tenant: string, now: number) =>
    [...flows.values()].filter((flow) => flow.tenant === tenant && isPending(flow, now));

  return {
    async insert(flow, caps, now) {
      const ofTenant = pendingIn(flow.tenant, now);
      const ofUser = ofTenant.filter(({ userId }) => userId === flow.userId);
      const same = ofUser.find(({ serverId }) => serverId === flow.serverId);
      if (same) return { kind: 'pending', flow: { ...same } };
      const lack = lackOfPlace(count(ofUser), count(ofTenant), caps);
      if (lack !== null) return lack;
      flows.set(flow.id, { ...flow });
      return { kind: 'inserted' };
    },
    async getRetryAt(tenant, userId, caps, now) {
      const ofTenant = pendingIn(tenant, now);
      const ofUser = ofTenant.filter((flow) => flow.userId === userId);
      return lackOfPlace(count(ofUser), count(ofTenant), caps)?.retryAt ?? null;
    },
    find: async (id) => copyOf(flows.get(id)),
    findByState: async (stateHash) =>
      copyOf([...flows.values()].find((flow) => flow.stateHash === stateHash)),
    findPending: async (tenant, userId, serverId, now) =>
      copyOf(pendingIn(tenant, now).find((flow) => flow.userId === userId && flow.serverId === serverId)),
    async transition(id, when, patch) {
      const flow = flows.get(id);
      if (!flow || !flowConditionHolds(flow, when)) return null;
      const next = { ...flow, ...flowChange(patch) };
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
