import type { CredentialUsageStore } from '@behalf/gateway/ports';
import { toRecordOrNull, toRecords } from './documents.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';

export function createMongoCredentialUsage(
  { credentialUsage }: Models,
  runner: CommandRunner,
): CredentialUsageStore {
  return {
    async put({ id, ...rest }) {
      const replacement = { _id: id, ...rest };
      await runner.runUpsert(() =>
        credentialUsage.replaceOne({ _id: id }, replacement, { upsert: true }).exec(),
      );
    },
    find: async (id) =>
      toRecordOrNull('credentialUsage', await runner.run(() => credentialUsage.findById(id).lean().exec())),
    async listUsedSince(since, limit) {
      const docs = await runner.run(() =>
        credentialUsage
          .find({ lastUsedAt: { $gte: since } })
          .sort({ lastUsedAt: -1, _id: 1 })
          .limit(limit)
          .lean()
          .exec(),
      );
      return toRecords('credentialUsage', docs);
    },
    remove: async (id) =>
      (await runner.run(() => credentialUsage.deleteOne({ _id: id }).exec())).deletedCount === 1,
  };
}
