import type { ServerStore, StoredServerRecord } from '@behalf/gateway/ports';
import { isDuplicateKey } from './failures.ts';
import type { Gate } from './gate.ts';
import type { Models, ServerDoc } from './models.ts';

export function createMongoServers({ servers }: Models, gate: Gate): ServerStore {
  return {
    async insert({ id, ...rest }) {
      try {
        await gate.run(() => servers.create([{ _id: id, ...rest }]));
        return 'inserted';
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
    },
    async replace({ id, tenant, ...rest }, seen) {
      try {
        const done = await gate.run(() =>
          servers.updateOne({ _id: id, tenant, version: seen }, { $set: rest }).exec(),
        );
        if (done.matchedCount === 1) return 'replaced';
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
      const there = await gate.run(() => servers.exists({ _id: id, tenant }).exec());
      return there === null ? 'missing' : 'version_conflict';
    },
    remove: async (tenant, id) =>
      (await gate.run(() => servers.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
    find: async (tenant, id) =>
      fromDoc(await gate.run(() => servers.findOne({ _id: id, tenant }).lean<ServerDoc>().exec())),
    findByName: async (tenant, name) =>
      fromDoc(await gate.run(() => servers.findOne({ tenant, name }).lean<ServerDoc>().exec())),
    async list() {
      const docs = await gate.run(() => servers.find({}).sort({ _id: 1 }).lean<ServerDoc[]>().exec());
      return docs.map(toRecord);
    },
    async versions() {
      const docs = await gate.run(() =>
        servers.find({}, { version: 1 }).sort({ _id: 1 }).lean<Pick<ServerDoc, '_id' | 'version'>[]>().exec(),
      );
      return docs.map(({ _id, version }) => ({ id: _id, version }));
    },
  };
}

function toRecord({ _id, ...rest }: ServerDoc): StoredServerRecord {
  return { id: _id, ...rest };
}

function fromDoc(doc: ServerDoc | null): StoredServerRecord | null {
  return doc && toRecord(doc);
}
