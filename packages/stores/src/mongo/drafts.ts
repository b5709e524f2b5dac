import type { DraftStore } from '@behalf/gateway/ports';
import { recordOrNull, recordsOf } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';
import { isAheadMs } from './storeTime.ts';

export function createMongoDrafts({ drafts }: Models, gate: Gate): DraftStore {
  const count = (tenant: string, userId: string, after: number) =>
    gate.run(() => drafts.countDocuments({ tenant, userId, expiresAt: { $gt: after } }).exec());

  return {
    async insert({ id, ...rest }, most) {
      const { tenant, userId, createdAt } = rest;
      if ((await count(tenant, userId, createdAt)) >= most) return 'full';
      await gate.run(() => drafts.create([{ _id: id, ...rest }]));
      // Others came in meanwhile: whoever sees too many takes its own back.
      if ((await count(tenant, userId, createdAt)) <= most) return 'inserted';
      await gate.run(() => drafts.deleteOne({ _id: id, tenant }).exec());
      return 'full';
    },
    find: async (tenant, id) =>
      recordOrNull('drafts', await gate.run(() => drafts.findOne({ _id: id, tenant }).lean().exec())),
    findById: async (id) => recordOrNull('drafts', await gate.run(() => drafts.findById(id).lean().exec())),
    listByUser: async (tenant, userId) =>
      recordsOf(
        'drafts',
        await gate.run(() => drafts.find({ tenant, userId }).sort({ _id: 1 }).lean().exec()),
      ),
    async consume(tenant, id, userId, now) {
      // Both clocks must agree that it is not over: a replica whose clock is behind prolongs nothing.
      const open = { _id: id, tenant, userId, takenAt: null, expiresAt: { $gt: now } };
      const taken = await gate.run(() =>
        drafts
          .updateOne({ ...open, $expr: isAheadMs('$expiresAt') }, { $set: { takenAt: now, expiresAt: now } })
          .exec(),
      );
      return taken.matchedCount === 1;
    },
    listExpired: async (by, limit) =>
      recordsOf(
        'drafts',
        await gate.run(() =>
          drafts
            .find({ expiresAt: { $lte: by } })
            .sort({ _id: 1 })
            .limit(limit)
            .lean()
            .exec(),
        ),
      ),
    remove: async (tenant, id) =>
      (await gate.run(() => drafts.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
  };
}
