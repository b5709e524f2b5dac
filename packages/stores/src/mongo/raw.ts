import {
  collectionShapes,
  type CollectionName,
  type Collections,
  type RawCollections,
} from '@behalf/gateway/ports';
import type { Model } from 'mongoose';
import { recordsOf } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';

type AnyDoc = Record<string, unknown> & { _id: string };

export function createMongoRaw(models: Models, gate: Gate): RawCollections {
  const modelOf = (name: CollectionName) => models[name] as unknown as Model<AnyDoc>;

  return {
    count: (name) => gate.run(() => modelOf(name).countDocuments({}).exec()),
    async page<N extends CollectionName>(name: N, after: string | null, limit: number) {
      const rest = after === null ? {} : { _id: { $gt: after } };
      const docs = await gate.run(() =>
        modelOf(name).find(rest).sort({ _id: 1 }).limit(limit).lean<AnyDoc[]>().exec(),
      );
      return recordsOf(name, docs);
    },
    async put<N extends CollectionName>(name: N, records: readonly Collections[N][]) {
      if (records.length === 0) return;
      const { key } = collectionShapes[name];
      const writes = records.map((record) => {
        const { [key]: id, ...fields } = record as unknown as Record<string, unknown>;
        const _id = String(id);
        return { replaceOne: { filter: { _id }, replacement: { _id, ...fields }, upsert: true } };
      });
      await gate.run(() => modelOf(name).bulkWrite(writes, { ordered: true }));
    },
    async remove(name, keys) {
      await gate.run(() =>
        modelOf(name)
          .deleteMany({ _id: { $in: [...keys] } })
          .exec(),
      );
    },
  };
}
