import type { Collections, OwnedRecord, OwnedStore } from '@behalf/gateway/ports';
import type { Model } from 'mongoose';
import { recordOrNull, recordsOf } from './documents.ts';
import type { Stored } from './fields.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';
import { replaceSeen } from './versions.ts';

type OwnedName = 'blocks' | 'sets';

/** Blocks and sets. */
export function createMongoOwned<N extends OwnedName>(
  name: N,
  models: Models,
  gate: Gate,
): OwnedStore<Collections[N]> {
  // What both models have in common; the fields of each are judged by its schema.
  const model = models[name] as unknown as Model<Stored<OwnedRecord, 'id'>>;
  const count = (tenant: string, owner: string) =>
    gate.run(() => model.countDocuments({ tenant, owner }).exec());

  return {
    find: async (tenant, id) =>
      recordOrNull(name, await gate.run(() => model.findOne({ _id: id, tenant }).lean().exec())),
    async findMany(tenant, ids) {
      const docs = await gate.run(() =>
        model
          .find({ tenant, _id: { $in: [...ids] } })
          .sort({ _id: 1 })
          .lean()
          .exec(),
      );
      return recordsOf(name, docs);
    },
    async insert({ id, ...rest }, most) {
      const { tenant, owner } = rest;
      if ((await count(tenant, owner)) >= most) return 'full';
      await gate.run(() => model.create([{ _id: id, ...rest }]));
      // Others came in meanwhile: whoever sees too many takes its own back.
      if ((await count(tenant, owner)) <= most) return 'inserted';
      await gate.run(() => model.deleteOne({ _id: id, tenant }).exec());
      return 'full';
    },
    replace: (record, seen) => replaceSeen(model, gate, record, seen),
    remove: async (tenant, id) =>
      (await gate.run(() => model.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
  };
}
