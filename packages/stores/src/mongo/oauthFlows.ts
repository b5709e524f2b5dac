import {
  pendingStatuses,
  type FlowCondition,
  type OAuthFlowRecord,
  type OAuthFlowStore,
} from '@behalf/gateway/ports';
import type { QueryFilter } from 'mongoose';
import { flowChange, lackOfPlace, type PendingCount } from '../flowRules.ts';
import { isDuplicateOf } from './failures.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';
import type { OAuthFlowDoc } from './vaultSchemas.ts';

type Filter = QueryFilter<OAuthFlowDoc>;

/** Of those that want one place one gets it, and the others find its flow; so often it never ends in between. */
const PLACE_TRIES = 5;

/**
 * A user has one place at each server, and a unique index over the flows with the mark `isPending` gives it. The mark goes
 * when a flow ends; one that ran out of time loses it to the next that wants its place.
 */
export function createMongoOAuthFlows({ oauthFlows }: Models, gate: Gate): OAuthFlowStore {
  const findOne = async (filter: Filter) =>
    recordOf(await gate.run(() => oauthFlows.findOne(filter).lean<OAuthFlowDoc>().exec()));
  const pendingIn = (of: Filter, now: number): Filter => ({
    ...of,
    status: { $in: [...pendingStatuses] },
    expiresAt: { $gt: now },
  });
  const count = async (of: Filter, now: number): Promise<PendingCount> => {
    const rows = await gate.run(() =>
      oauthFlows
        .aggregate<PendingCount>([
          { $match: pendingIn(of, now) },
          { $group: { _id: null, count: { $sum: 1 }, earliestExpiry: { $min: '$expiresAt' } } },
        ])
        .exec(),
    );
    return rows[0] ?? { count: 0, earliestExpiry: now };
  };
  const create = async (flow: OAuthFlowRecord): Promise<boolean> => {
    try {
      await gate.run(() => oauthFlows.create([docOf(flow)]));
      return true;
    } catch (error) {
      if (isDuplicateOf(error, 'serverId')) return false;
      throw error;
    }
  };

  return {
    async insert(flow, caps, now) {
      const { id, tenant, userId, serverId } = flow;
      const place = { tenant, userId, serverId };
      for (let tries = 1; tries <= PLACE_TRIES; tries += 1) {
        const same = await findOne(pendingIn(place, now));
        if (same !== null) return { kind: 'pending', flow: same };
        const ofUser = await count({ tenant, userId }, now);
        const lack = lackOfPlace(ofUser, await count({ tenant }, now), caps);
        if (lack !== null) return lack;
        const over = { ...place, isPending: true as const, expiresAt: { $lte: now } };
        await gate.run(() => oauthFlows.updateOne(over, { $unset: { isPending: 1 } }).exec());
        if (!(await create(flow))) continue;
        // Others came in meanwhile: whoever sees too many takes its own back.
        const most = { perUser: caps.perUser + 1, perTenant: caps.perTenant + 1 };
        const late = lackOfPlace(await count({ tenant, userId }, now), await count({ tenant }, now), most);
        if (late === null) return { kind: 'inserted' };
        await gate.run(() => oauthFlows.deleteOne({ _id: id }).exec());
        return late;
      }
      throw new Error('The slot of a pending sign-in is taken, but no pending sign-in was found');
    },
    async getRetryAt(tenant, userId, caps, now) {
      const ofUser = await count({ tenant, userId }, now);
      return lackOfPlace(ofUser, await count({ tenant }, now), caps)?.retryAt ?? null;
    },
    find: (id) => findOne({ _id: id }),
    findByState: (stateHash) => findOne({ stateHash }),
    findPending: (tenant, userId, serverId, now) => findOne(pendingIn({ tenant, userId, serverId }, now)),
    async transition(id, when, patch) {
      const change = flowChange(patch);
      const ends = change.status !== undefined && !pendingStatuses.includes(change.status);
      const update = { $set: change, ...(ends ? { $unset: { isPending: 1 as const } } : {}) };
      return recordOf(
        await gate.run(() =>
          oauthFlows
            .findOneAndUpdate({ _id: id, ...conditionOf(when) }, update, { returnDocument: 'after' })
            .lean<OAuthFlowDoc>()
            .exec(),
        ),
      );
    },
    async removeByUser(tenant, userId, serverId) {
      const of = { tenant, userId, ...(serverId === undefined ? {} : { serverId }) };
      return (await gate.run(() => oauthFlows.deleteMany(of).exec())).deletedCount;
    },
    removeByServer: async (tenant, serverId) =>
      (await gate.run(() => oauthFlows.deleteMany({ tenant, serverId }).exec())).deletedCount,
    removeExpired: async (now) =>
      (await gate.run(() => oauthFlows.deleteMany({ removeAt: { $lte: now } }).exec())).deletedCount,
  };
}

function conditionOf({ status, stateHash, browserHash, userId, now }: FlowCondition): Filter {
  return {
    status: { $in: [...status] },
    ...(stateHash === undefined ? {} : { stateHash }),
    ...(browserHash === undefined ? {} : { browserHash }),
    ...(userId === undefined ? {} : { userId }),
    ...(now === undefined ? {} : { expiresAt: { $gt: now } }),
  };
}

function docOf({ id, ...rest }: OAuthFlowRecord): OAuthFlowDoc {
  const pending = pendingStatuses.includes(rest.status) ? { isPending: true as const } : {};
  return { _id: id, ...rest, ...pending, deleteAt: new Date(rest.removeAt) };
}

function recordOf(doc: OAuthFlowDoc | null): OAuthFlowRecord | null {
  if (doc === null) return null;
  const { _id, isPending: _isPending, deleteAt: _deleteAt, ...rest } = doc;
  return { id: _id, ...rest };
}
