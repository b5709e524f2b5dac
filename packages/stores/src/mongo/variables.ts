import type { UserVariableStore } from '@behalf/gateway/ports';
import { toRecords } from './documents.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models, VariableDoc } from './models.ts';

export function createMongoVariables({ variables }: Models, runner: CommandRunner): UserVariableStore {
  const removeWhere = async (filter: Partial<VariableDoc>) =>
    (await runner.run(() => variables.deleteMany(filter).exec())).deletedCount;

  return {
    async list(tenant, userId, serverId) {
      const docs = await runner.run(() =>
        variables.find({ tenant, userId, serverId }).sort({ name: 1 }).lean().exec(),
      );
      return toRecords('variables', docs);
    },
    async put(records) {
      if (records.length === 0) return;
      const writes = records.map(({ id, ...rest }) => ({
        replaceOne: { filter: { _id: id }, replacement: { _id: id, ...rest }, upsert: true },
      }));
      // Each value is a document of its own, and a repeated write changes nothing: what an outage cut short is sent again.
      await runner.runUpsert(() => variables.bulkWrite(writes, { ordered: true }));
    },
    remove: async (tenant, userId, serverId, name) =>
      (await removeWhere({ tenant, userId, serverId, name })) > 0,
    removeAll: (tenant, userId, serverId) => removeWhere({ tenant, userId, serverId }),
    removeByServer: (tenant, serverId) => removeWhere({ tenant, serverId }),
    removeByUser: (tenant, userId) => removeWhere({ tenant, userId }),
  };
}
