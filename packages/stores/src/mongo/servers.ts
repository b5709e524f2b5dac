import type { ServerStore } from '@behalf/gateway/ports';
import { toRecordOrNull, toRecords } from './documents.ts';
import { isDuplicateKey } from './failures.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models, ServerDoc } from './models.ts';
import { replaceIfVersion } from './replaceIfVersion.ts';

export function createMongoServers({ servers }: Models, runner: CommandRunner): ServerStore {
  return {
    async insert({ id, ...rest }) {
      try {
        await runner.run(() => servers.create([{ _id: id, ...rest }]));
        return 'inserted';
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
    },
    async replace(server, expectedVersion) {
      try {
        return await replaceIfVersion(servers, runner, server, expectedVersion);
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
    },
    remove: async (tenant, id) =>
      (await runner.run(() => servers.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
    find: async (tenant, id) =>
      toRecordOrNull('servers', await runner.run(() => servers.findOne({ _id: id, tenant }).lean().exec())),
    findByName: async (tenant, name) =>
      toRecordOrNull('servers', await runner.run(() => servers.findOne({ tenant, name }).lean().exec())),
    list: async () =>
      toRecords('servers', await runner.run(() => servers.find({}).sort({ _id: 1 }).lean().exec())),
    async listNames(tenant) {
      const docs = await runner.run(() =>
        servers
          .find({ tenant }, { name: 1, normalizedName: 1, author: 1 })
          .sort({ _id: 1 })
          .lean<Pick<ServerDoc, '_id' | 'name' | 'normalizedName' | 'author'>[]>()
          .exec(),
      );
      return docs.map(({ _id, name, normalizedName, author }) => ({ id: _id, name, normalizedName, author }));
    },
    async listVersions() {
      const docs = await runner.run(() =>
        servers.find({}, { version: 1 }).sort({ _id: 1 }).lean<Pick<ServerDoc, '_id' | 'version'>[]>().exec(),
      );
      return docs.map(({ _id, version }) => ({ id: _id, version }));
    },
  };
}
