import type { Collections, OwnedRecord, OwnedStore, RunStore } from '@behalf/gateway/ports';
import type { Model } from 'mongoose';
import type { CommandRunner } from './connection.ts';
import { replaceIfVersion, toRecordOrNull, toRecords } from './documents.ts';
import type { Models } from './models.ts';
import type { Stored } from './schemas.ts';

type OwnedName = 'blocks' | 'sets';

/** Stores blocks or sets. */
export function createMongoOwned<N extends OwnedName>(
  name: N,
  models: Models,
  runner: CommandRunner,
): OwnedStore<Collections[N]> {
  // The model is used only for the fields that both collections share. Each schema validates its own fields.
  const model = models[name] as unknown as Model<Stored<OwnedRecord, 'id'>>;
  const count = (tenant: string, owner: string) =>
    runner.run(() => model.countDocuments({ tenant, owner }).exec());

  return {
    find: async (tenant, id) =>
      toRecordOrNull(name, await runner.run(() => model.findOne({ _id: id, tenant }).lean().exec())),
    async findMany(tenant, ids) {
      const docs = await runner.run(() =>
        model
          .find({ tenant, _id: { $in: [...ids] } })
          .sort({ _id: 1 })
          .lean()
          .exec(),
      );
      return toRecords(name, docs);
    },
    async insert({ id, ...rest }, maxPerOwner) {
      const { tenant, owner } = rest;
      if ((await count(tenant, owner)) >= maxPerOwner) return 'full';
      await runner.run(() => model.create([{ _id: id, ...rest }]));
      // Concurrent inserts may exceed the limit: every process that sees too many removes its own record.
      if ((await count(tenant, owner)) <= maxPerOwner) return 'inserted';
      await runner.run(() => model.deleteOne({ _id: id, tenant }).exec());
      return 'full';
    },
    replace: (record, expectedVersion) => replaceIfVersion(model, runner, record, expectedVersion),
    remove: async (tenant, id) =>
      (await runner.run(() => model.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
  };
}

const latestFirst = { createdAt: -1, _id: -1 } as const;
const notRunning = { $ne: 'running' } as const;

export function createMongoRuns({ runs }: Models, runner: CommandRunner): RunStore {
  const countRunning = (tenant: string, userId: string) =>
    runner.run(() => runs.countDocuments({ tenant, userId, state: 'running' }).exec());

  return {
    find: async (tenant, userId, id) =>
      toRecordOrNull('runs', await runner.run(() => runs.findOne({ _id: id, tenant, userId }).lean().exec())),
    async findMetadata(tenant, userId, id) {
      const doc = await runner.run(() =>
        runs.findOne({ _id: id, tenant, userId }).select('-sealed').lean().exec(),
      );
      return toRecordOrNull('runs', doc);
    },
    async list(tenant, userId, setId) {
      const docs = await runner.run(() =>
        runs.find({ tenant, userId, setId }).select('-sealed').sort(latestFirst).lean().exec(),
      );
      return toRecords('runs', docs);
    },
    async listRunning(tenant, userId) {
      const filter = { tenant, userId, state: 'running' as const };
      const docs = await runner.run(() =>
        runs.find(filter).select('-sealed').sort(latestFirst).lean().exec(),
      );
      return toRecords('runs', docs);
    },
    async insert({ id, ...rest }, maxRunning) {
      const { tenant, userId } = rest;
      if ((await countRunning(tenant, userId)) >= maxRunning) return 'full';
      await runner.run(() => runs.create([{ _id: id, ...rest }]));
      // Concurrent inserts may exceed the limit: every process that sees too many removes its own record.
      if ((await countRunning(tenant, userId)) <= maxRunning) return 'inserted';
      await runner.run(() => runs.deleteOne({ _id: id, tenant, userId }).exec());
      return 'full';
    },
    async replace({ id, tenant, userId, ...rest }, expectedVersion) {
      const result = await runner.run(() =>
        runs.updateOne({ _id: id, tenant, userId, version: expectedVersion }, { $set: rest }).exec(),
      );
      if (result.matchedCount === 1) return 'replaced';
      const existing = await runner.run(() => runs.exists({ _id: id, tenant, userId }).exec());
      return existing === null ? 'missing' : 'version_conflict';
    },
    async prune(tenant, userId, keepCount) {
      const surplus = await runner.run(() =>
        runs
          .find({ tenant, userId, state: notRunning })
          .select('_id')
          .sort(latestFirst)
          .skip(keepCount)
          .lean()
          .exec(),
      );
      if (surplus.length === 0) return 0;
      const ids = surplus.map(({ _id }) => _id);
      // The state is repeated in the filter: a run that started again stays.
      const filter = { _id: { $in: ids }, tenant, userId, state: notRunning };
      return (await runner.run(() => runs.deleteMany(filter).exec())).deletedCount;
    },
    removeExpired: async (now) =>
      (await runner.run(() => runs.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
  };
}
