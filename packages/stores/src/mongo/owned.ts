import type { Collections, OwnedRecord, OwnedStore } from '@behalf/gateway/ports';
import type { Model } from 'mongoose';
import { toRecordOrNull, toRecords } from './documents.ts';
import type { Stored } from './fields.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';
import { replaceIfVersion } from './replaceIfVersion.ts';

type OwnedName = 'blocks' | 'sets';

/** Blocks and sets. */
export function createMongoOwned<N extends OwnedName>(
  name: N,
  models: Models,
  runner: CommandRunner,
): OwnedStore<Collections[N]> {
  // What both models have in common; the fields of each are judged by its schema.
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
      // Others came in meanwhile: whoever sees too many takes its own back.
      if ((await count(tenant, owner)) <= maxPerOwner) return 'inserted';
      await runner.run(() => model.deleteOne({ _id: id, tenant }).exec());
      return 'full';
    },
    replace: (record, expectedVersion) => replaceIfVersion(model, runner, record, expectedVersion),
    remove: async (tenant, id) =>
      (await runner.run(() => model.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
  };
}
