import type { BlockStore } from '@behalf/gateway/ports';
import { recordOrNull, recordsOf } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';
import { replaceSeen } from './versions.ts';

export function createMongoBlocks({ blocks }: Models, gate: Gate): BlockStore {
  const count = (tenant: string, owner: string) =>
    gate.run(() => blocks.countDocuments({ tenant, owner }).exec());

  return {
    find: async (tenant, id) =>
      recordOrNull('blocks', await gate.run(() => blocks.findOne({ _id: id, tenant }).lean().exec())),
    async findMany(tenant, ids) {
      const docs = await gate.run(() =>
        blocks
          .find({ tenant, _id: { $in: [...ids] } })
          .sort({ _id: 1 })
          .lean()
          .exec(),
      );
      return recordsOf('blocks', docs);
    },
    async insert({ id, ...rest }, most) {
      const { tenant, owner } = rest;
      if ((await count(tenant, owner)) >= most) return 'full';
      await gate.run(() => blocks.create([{ _id: id, ...rest }]));
      // Others came in meanwhile: whoever sees too many takes its own back.
      if ((await count(tenant, owner)) <= most) return 'inserted';
      await gate.run(() => blocks.deleteOne({ _id: id, tenant }).exec());
      return 'full';
    },
    replace: (block, seen) => replaceSeen(blocks, gate, block, seen),
    remove: async (tenant, id) =>
      (await gate.run(() => blocks.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
  };
}
