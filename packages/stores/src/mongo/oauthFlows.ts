import {
  type FlowCondition,
  type OAuthClientStore,
  type OAuthFlowRecord,
  type OAuthFlowStore,
  oauthClientId,
  pendingStatuses,
} from '@behalf/gateway/ports';
import type { QueryFilter } from 'mongoose';
import { type PendingCount, checkFlowLimits, pickFlowChanges } from '../writeRules.ts';
import { type CommandRunner, isDuplicateKeyOf } from './connection.ts';
import { toRecord, toRecordOrNull } from './documents.ts';
import type { Models } from './models.ts';
import type { OAuthFlowDoc } from './schemas.ts';

type Filter = QueryFilter<OAuthFlowDoc>;

/**
 * One of several concurrent flows wins, and the others find its record. The winner never ends this often in
 * between.
 */
const MAX_INSERT_ATTEMPTS = 5;

/**
 * A user has at most one pending flow per server, enforced by a unique index over documents with `isPending`.
 * The mark is removed when a flow ends. An expired flow loses it to the next flow.
 */
export function createMongoOAuthFlows({ oauthFlows }: Models, runner: CommandRunner): OAuthFlowStore {
  const findOne = async (filter: Filter) =>
    toFlowRecord(await runner.run(() => oauthFlows.findOne(filter).lean<OAuthFlowDoc>().exec()));
  const pendingFilter = (filter: Filter, now: number): Filter => ({
    ...filter,
    status: { $in: [...pendingStatuses] },
    expiresAt: { $gt: now },
  });
  const countPending = async (filter: Filter, now: number): Promise<PendingCount> => {
    const rows = await runner.run(() =>
      oauthFlows
        .aggregate<PendingCount>([
          { $match: pendingFilter(filter, now) },
          { $group: { _id: null, count: { $sum: 1 }, earliestExpiry: { $min: '$expiresAt' } } },
        ])
        .exec(),
    );
    return rows[0] ?? { count: 0, earliestExpiry: now };
  };
  const tryCreate = async (flow: OAuthFlowRecord): Promise<boolean> => {
    try {
      await runner.run(() => oauthFlows.create([toFlowDoc(flow)]));
      return true;
    } catch (error) {
      if (isDuplicateKeyOf(error, 'serverId')) return false;
      throw error;
    }
  };

  return {
    async insert(flow, limits, now) {
      const { id, tenant, userId, serverId } = flow;
      const key = { tenant, userId, serverId };
      for (let attempt = 1; attempt <= MAX_INSERT_ATTEMPTS; attempt += 1) {
        const existing = await findOne(pendingFilter(key, now));
        if (existing !== null) return { kind: 'pending', flow: existing };
        const userCount = await countPending({ tenant, userId }, now);
        const exceeded = checkFlowLimits(userCount, await countPending({ tenant }, now), limits);
        if (exceeded !== null) return exceeded;
        const expiredFilter = { ...key, isPending: true as const, expiresAt: { $lte: now } };
        await runner.run(() => oauthFlows.updateOne(expiredFilter, { $unset: { isPending: 1 } }).exec());
        if (!(await tryCreate(flow))) continue;
        // Concurrent inserts may exceed the limit: every process that sees too many removes its own record.
        const raisedLimits = { perUser: limits.perUser + 1, perTenant: limits.perTenant + 1 };
        const exceededAfterInsert = checkFlowLimits(
          await countPending({ tenant, userId }, now),
          await countPending({ tenant }, now),
          raisedLimits,
        );
        if (exceededAfterInsert === null) return { kind: 'inserted' };
        await runner.run(() => oauthFlows.deleteOne({ _id: id }).exec());
        return exceededAfterInsert;
      }
      throw new Error('The slot of a pending sign-in is taken, but no pending sign-in was found');
    },
    async getRetryAt(tenant, userId, limits, now) {
      const userCount = await countPending({ tenant, userId }, now);
      return checkFlowLimits(userCount, await countPending({ tenant }, now), limits)?.retryAt ?? null;
    },
    find: (id) => findOne({ _id: id }),
    findByState: (stateHash) => findOne({ stateHash }),
    findPending: (tenant, userId, serverId, now) => findOne(pendingFilter({ tenant, userId, serverId }, now)),
    async transition(id, condition, patch) {
      const change = pickFlowChanges(patch);
      const isFinal = change.status !== undefined && !pendingStatuses.includes(change.status);
      const update = { $set: change, ...(isFinal ? { $unset: { isPending: 1 as const } } : {}) };
      return toFlowRecord(
        await runner.run(() =>
          oauthFlows
            .findOneAndUpdate({ _id: id, ...toFilter(condition) }, update, { returnDocument: 'after' })
            .lean<OAuthFlowDoc>()
            .exec(),
        ),
      );
    },
    async removeByUser(tenant, userId, serverId) {
      const filter = { tenant, userId, ...(serverId === undefined ? {} : { serverId }) };
      return (await runner.run(() => oauthFlows.deleteMany(filter).exec())).deletedCount;
    },
    removeByServer: async (tenant, serverId) =>
      (await runner.run(() => oauthFlows.deleteMany({ tenant, serverId }).exec())).deletedCount,
    removeExpired: async (now) =>
      (await runner.run(() => oauthFlows.deleteMany({ removeAt: { $lte: now } }).exec())).deletedCount,
  };
}

function toFilter({ status, stateHash, browserHash, userId, now }: FlowCondition): Filter {
  return {
    status: { $in: [...status] },
    ...(stateHash === undefined ? {} : { stateHash }),
    ...(browserHash === undefined ? {} : { browserHash }),
    ...(userId === undefined ? {} : { userId }),
    ...(now === undefined ? {} : { expiresAt: { $gt: now } }),
  };
}

function toFlowDoc({ id, ...rest }: OAuthFlowRecord): OAuthFlowDoc {
  const pendingMark = pendingStatuses.includes(rest.status) ? { isPending: true as const } : {};
  return { _id: id, ...rest, ...pendingMark, deleteAt: new Date(rest.removeAt) };
}

function toFlowRecord(doc: OAuthFlowDoc | null): OAuthFlowRecord | null {
  if (doc === null) return null;
  const { _id, isPending: _isPending, deleteAt: _deleteAt, ...rest } = doc;
  return { id: _id, ...rest };
}

export function createMongoOAuthClients({ oauthClients }: Models, runner: CommandRunner): OAuthClientStore {
  return {
    async insert({ id, ...rest }) {
      const options = { upsert: true, returnDocument: 'after' } as const;
      const stored = await runner.runUpsert(() =>
        oauthClients.findOneAndUpdate({ _id: id }, { $setOnInsert: rest }, options).lean().orFail().exec(),
      );
      return toRecord('oauthClients', stored);
    },
    find: async (key) =>
      toRecordOrNull(
        'oauthClients',
        await runner.run(() => oauthClients.findById(oauthClientId(key)).lean().exec()),
      ),
    replace: async ({ id, ...rest }, clientId) =>
      (await runner.run(() => oauthClients.updateOne({ _id: id, clientId }, { $set: rest }).exec()))
        .matchedCount === 1,
    remove: async (key, clientId) =>
      (await runner.run(() => oauthClients.deleteOne({ _id: oauthClientId(key), clientId }).exec()))
        .deletedCount === 1,
    removeByServer: async (tenant, serverId) =>
      (await runner.run(() => oauthClients.deleteMany({ tenant, serverId }).exec())).deletedCount,
  };
}
