import type { UserVariableStore } from '@behalf/gateway/ports';
import { recordsOf } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models, VariableDoc } from './models.ts';

export function createMongoVariables({ variables }: Models, gate: Gate): UserVariableStore {
  const removeWhere = async (filter: Partial<VariableDoc>) =>
    (await gate.run(() => variables.deleteMany(filter).exec())).deletedCount;

  return {
    async list(tenant, userId, serverId) {
      const docs = await gate.run(() =>
        variables.find({ tenant, userId, serverId }).sort({ name: 1 }).lean().exec(),
      );
      return recordsOf('variables', docs);
    },
    async put(records) {
      if (records.length === 0) return;
      const writes = records.map(({ id, ...rest }) => ({
        replaceOne: { filter: { _id: id }, replacement: { _id: id, ...rest }, upsert: true },
      }));
      // Each value is a document of its own, and a repeated write changes nothing: what an outage cut short is sent again.
      await gate.runUpsert(() => variables.bulkWrite(writes, { ordered: true }));
    },
    remove: async (tenant, userId, serverId, name) =>
      (await removeWhere({ tenant, userId, serverId, name })) > 0,
    removeAll: (tenant, userId, serverId) => removeWhere({ tenant, userId, serverId }),
    removeByServer: (tenant, serverId) => removeWhere({ tenant, serverId }),
    removeByUser: (tenant, userId) => removeWhere({ tenant, userId }),
  };
}
