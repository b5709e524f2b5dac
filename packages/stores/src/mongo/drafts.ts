import type { DraftStore } from '@behalf/gateway/ports';
import { toRecordOrNull, toRecords } from './documents.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';
import { buildInFutureMsExpression } from './storeTime.ts';

export function createMongoDrafts({ drafts }: Models, runner: CommandRunner): DraftStore {
  const count = (tenant: string, userId: string, after: number) =>
    runner.run(() => drafts.countDocuments({ tenant, userId, expiresAt: { $gt: after } }).exec());

  return {
    async insert({ id, ...rest }, maxPerUser) {
      const { tenant, userId, createdAt } = rest;
      if ((await count(tenant, userId, createdAt)) >= maxPerUser) return 'full';
      await runner.run(() => drafts.create([{ _id: id, ...rest }]));
      // Others came in meanwhile: whoever sees too many takes its own back.
      if ((await count(tenant, userId, createdAt)) <= maxPerUser) return 'inserted';
      await runner.run(() => drafts.deleteOne({ _id: id, tenant }).exec());
      return 'full';
    },
    find: async (tenant, id) =>
      toRecordOrNull('drafts', await runner.run(() => drafts.findOne({ _id: id, tenant }).lean().exec())),
    findById: async (id) =>
      toRecordOrNull('drafts', await runner.run(() => drafts.findById(id).lean().exec())),
    listByUser: async (tenant, userId) =>
      toRecords(
        'drafts',
        await runner.run(() => drafts.find({ tenant, userId }).sort({ _id: 1 }).lean().exec()),
      ),
    async consume(tenant, id, userId, now) {
      // Both clocks must agree that it is not over: a replica whose clock is behind prolongs nothing.
      const filter = { _id: id, tenant, userId, takenAt: null, expiresAt: { $gt: now } };
      const result = await runner.run(() =>
        drafts
          .updateOne(
            { ...filter, $expr: buildInFutureMsExpression('$expiresAt') },
            { $set: { takenAt: now, expiresAt: now } },
          )
          .exec(),
      );
      return result.matchedCount === 1;
    },
    listExpired: async (expiredBy, limit) =>
      toRecords(
        'drafts',
        await runner.run(() =>
          drafts
            .find({ expiresAt: { $lte: expiredBy } })
            .sort({ _id: 1 })
            .limit(limit)
            .lean()
            .exec(),
        ),
      ),
    remove: async (tenant, id) =>
      (await runner.run(() => drafts.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
  };
}
