import type { ApiKeyStore } from '@behalf/gateway/ports';
import { toRecordOrNull, toRecords } from './documents.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';

export function createMongoApiKeys({ apiKeys }: Models, runner: CommandRunner): ApiKeyStore {
  return {
    async insert({ id, ...rest }) {
      await runner.run(() => apiKeys.create([{ _id: id, ...rest }]));
    },
    async findByHash(hash, now) {
      const filter = { hash, expiresAt: { $gt: now } };
      return toRecordOrNull('apiKeys', await runner.run(() => apiKeys.findOne(filter).lean().exec()));
    },
    async filterActive(ids, now) {
      const filter = { _id: { $in: [...ids] }, expiresAt: { $gt: now } };
      const docs = await runner.run(() => apiKeys.find(filter, { _id: 1 }).lean().exec());
      return docs.map(({ _id }) => _id);
    },
    async list(userId) {
      const docs = await runner.run(() =>
        apiKeys.find({ userId }).sort({ createdAt: 1, _id: 1 }).lean().exec(),
      );
      return toRecords('apiKeys', docs);
    },
    async remove(userId, id) {
      const removed = await runner.run(() => apiKeys.findOneAndDelete({ _id: id, userId }).lean().exec());
      return toRecordOrNull('apiKeys', removed);
    },
    removeByUser: async (userId) =>
      (await runner.run(() => apiKeys.deleteMany({ userId }).exec())).deletedCount,
    removeExpired: async (now) =>
      (await runner.run(() => apiKeys.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
    async touch(id, usedAt) {
      // A number is more than the null of a key that was never used.
      await runner.run(() => apiKeys.updateOne({ _id: id }, { $max: { lastUsedAt: usedAt } }).exec());
    },
  };
}
