import type { ServerStore } from '@behalf/gateway/ports';
import { recordOrNull, recordsOf } from './documents.ts';
import { isDuplicateKey } from './failures.ts';
import type { Gate } from './gate.ts';
import type { Models, ServerDoc } from './models.ts';
import { replaceSeen } from './versions.ts';

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
    async replace(server, seen) {
      try {
        return await replaceSeen(servers, gate, server, seen);
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
    },
    remove: async (tenant, id) =>
      (await gate.run(() => servers.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
    find: async (tenant, id) =>
      recordOrNull('servers', await gate.run(() => servers.findOne({ _id: id, tenant }).lean().exec())),
    findByName: async (tenant, name) =>
      recordOrNull('servers', await gate.run(() => servers.findOne({ tenant, name }).lean().exec())),
    list: async () =>
      recordsOf('servers', await gate.run(() => servers.find({}).sort({ _id: 1 }).lean().exec())),
    async listNames(tenant) {
      const docs = await gate.run(() =>
        servers
          .find({ tenant }, { name: 1, normalizedName: 1, author: 1 })
          .sort({ _id: 1 })
          .lean<Pick<ServerDoc, '_id' | 'name' | 'normalizedName' | 'author'>[]>()
          .exec(),
      );
      return docs.map(({ _id, name, normalizedName, author }) => ({ id: _id, name, normalizedName, author }));
    },
    async listVersions() {
      const docs = await gate.run(() =>
        servers.find({}, { version: 1 }).sort({ _id: 1 }).lean<Pick<ServerDoc, '_id' | 'version'>[]>().exec(),
      );
      return docs.map(({ _id, version }) => ({ id: _id, version }));
    },
  };
}
