import type { RunStore } from '@behalf/gateway/ports';
import { recordOrNull, recordsOf } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';

const latestFirst = { createdAt: -1, _id: -1 } as const;
const ended = { $ne: 'running' } as const;

export function createMongoRuns({ runs }: Models, gate: Gate): RunStore {
  const running = (tenant: string, userId: string) =>
    gate.run(() => runs.countDocuments({ tenant, userId, state: 'running' }).exec());

  return {
    find: async (tenant, userId, id) =>
      recordOrNull('runs', await gate.run(() => runs.findOne({ _id: id, tenant, userId }).lean().exec())),
    async findMetadata(tenant, userId, id) {
      const doc = await gate.run(() =>
        runs.findOne({ _id: id, tenant, userId }).select('-sealed').lean().exec(),
      );
      return recordOrNull('runs', doc);
    },
    async list(tenant, userId, setId) {
      const docs = await gate.run(() =>
        runs.find({ tenant, userId, setId }).select('-sealed').sort(latestFirst).lean().exec(),
      );
      return recordsOf('runs', docs);
    },
    async listRunning(tenant, userId) {
      const theirs = { tenant, userId, state: 'running' as const };
      const docs = await gate.run(() => runs.find(theirs).select('-sealed').sort(latestFirst).lean().exec());
      return recordsOf('runs', docs);
    },
    async insert({ id, ...rest }, most) {
      const { tenant, userId } = rest;
      if ((await running(tenant, userId)) >= most) return 'full';
      await gate.run(() => runs.create([{ _id: id, ...rest }]));
      // Others came in meanwhile: whoever sees too many takes its own back.
      if ((await running(tenant, userId)) <= most) return 'inserted';
      await gate.run(() => runs.deleteOne({ _id: id, tenant, userId }).exec());
      return 'full';
    },
    async replace({ id, tenant, userId, ...rest }, seen) {
      const done = await gate.run(() =>
        runs.updateOne({ _id: id, tenant, userId, version: seen }, { $set: rest }).exec(),
      );
      if (done.matchedCount === 1) return 'replaced';
      const there = await gate.run(() => runs.exists({ _id: id, tenant, userId }).exec());
      return there === null ? 'missing' : 'version_conflict';
    },
    async prune(tenant, userId, keep) {
      const over = await gate.run(() =>
        runs.find({ tenant, userId, state: ended }).select('_id').sort(latestFirst).skip(keep).lean().exec(),
      );
      if (over.length === 0) return 0;
      const ids = over.map(({ _id }) => _id);
      // One that runs again meanwhile stays.
      const gone = { _id: { $in: ids }, tenant, userId, state: ended };
      return (await gate.run(() => runs.deleteMany(gone).exec())).deletedCount;
    },
    removeExpired: async (now) =>
      (await gate.run(() => runs.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
  };
}
