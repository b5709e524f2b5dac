import {
  collectionShapes,
  type CollectionName,
  type Collections,
  type RawCollections,
  type ResealedValue,
} from '@behalf/gateway/ports';
import type { Model } from 'mongoose';
import { type CredentialDefaults, toCredentialDoc } from './credentials.ts';
import { toRecords } from './documents.ts';
import type { CommandRunner } from './connection.ts';
import type { Models } from './models.ts';
import type { CredentialDoc } from './schemas.ts';

type AnyDoc = Record<string, unknown> & { _id: string };

export function createMongoRaw(
  models: Models,
  runner: CommandRunner,
  defaults: CredentialDefaults,
): RawCollections {
  const modelOf = (name: CollectionName) => models[name] as unknown as Model<AnyDoc>;

  return {
    count: (name) => runner.run(() => modelOf(name).countDocuments({}).exec()),
    async page<N extends CollectionName>(name: N, after: string | null, limit: number) {
      const filter = after === null ? {} : { _id: { $gt: after } };
      const docs = await runner.run(() =>
        modelOf(name).find(filter).sort({ _id: 1 }).limit(limit).lean<AnyDoc[]>().exec(),
      );
      if (name !== 'credentials') return toRecords(name, docs);
      const credentials = (docs as unknown as CredentialDoc[]).map((doc) => defaults.toRecord(doc));
      return (await Promise.all(credentials)) as Collections[N][];
    },
    async put<N extends CollectionName>(name: N, records: readonly Collections[N][]) {
      if (records.length === 0) return;
      const writes = records.map((record) => {
        const replacement = toDocument(name, record);
        return { replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true } };
      });
      await runner.run(() => modelOf(name).bulkWrite(writes, { ordered: true }));
    },
    async reseal<N extends CollectionName>(name: N, values: readonly ResealedValue<Collections[N]>[]) {
      if (values.length === 0) return 0;
      const writes = values.map(({ key, field, oldValue, newValue }) => ({
        updateOne: { filter: { _id: key, [field]: oldValue }, update: { $set: { [field]: newValue } } },
      }));
      return (await runner.run(() => modelOf(name).bulkWrite(writes, { ordered: false }))).modifiedCount;
    },
    async remove(name, keys) {
      await runner.run(() =>
        modelOf(name)
          .deleteMany({ _id: { $in: [...keys] } })
          .exec(),
      );
    },
  };
}

function toDocument<N extends CollectionName>(name: N, record: Collections[N]): AnyDoc {
  if (name === 'credentials') return toCredentialDoc(record as Collections['credentials']);
  const { [collectionShapes[name].key]: id, ...fields } = record as unknown as Record<string, unknown>;
  return { _id: String(id), ...fields };
}
