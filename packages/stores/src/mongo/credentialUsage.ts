import type { CredentialUsageStore } from '@behalf/gateway/ports';
import { recordOrNull, recordsOf } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';

export function createMongoCredentialUsage({ credentialUsage }: Models, gate: Gate): CredentialUsageStore {
  return {
    async put({ id, ...rest }) {
      const whole = { _id: id, ...rest };
      await gate.runUpsert(() => credentialUsage.replaceOne({ _id: id }, whole, { upsert: true }).exec());
    },
    find: async (id) =>
      recordOrNull('credentialUsage', await gate.run(() => credentialUsage.findById(id).lean().exec())),
    async listUsedSince(since, limit) {
      const docs = await gate.run(() =>
        credentialUsage
          .find({ lastUsedAt: { $gte: since } })
          .sort({ lastUsedAt: -1, _id: 1 })
          .limit(limit)
          .lean()
          .exec(),
      );
      return recordsOf('credentialUsage', docs);
    },
    remove: async (id) =>
      (await gate.run(() => credentialUsage.deleteOne({ _id: id }).exec())).deletedCount === 1,
  };
}
