import type { ApiKeyStore } from '@behalf/gateway/ports';
import { recordOrNull, recordsOf } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';

export function createMongoApiKeys({ apiKeys }: Models, gate: Gate): ApiKeyStore {
  return {
    async insert({ id, ...rest }) {
      await gate.run(() => apiKeys.create([{ _id: id, ...rest }]));
    },
    async findByHash(hash, now) {
      const live = { hash, expiresAt: { $gt: now } };
      return recordOrNull('apiKeys', await gate.run(() => apiKeys.findOne(live).lean().exec()));
    },
    async filterActive(ids, now) {
      const live = { _id: { $in: [...ids] }, expiresAt: { $gt: now } };
      const docs = await gate.run(() => apiKeys.find(live, { _id: 1 }).lean().exec());
      return docs.map(({ _id }) => _id);
    },
    async list(userId) {
      const docs = await gate.run(() =>
        apiKeys.find({ userId }).sort({ createdAt: 1, _id: 1 }).lean().exec(),
      );
      return recordsOf('apiKeys', docs);
    },
    async remove(userId, id) {
      const gone = await gate.run(() => apiKeys.findOneAndDelete({ _id: id, userId }).lean().exec());
      return recordOrNull('apiKeys', gone);
    },
    removeByUser: async (userId) =>
      (await gate.run(() => apiKeys.deleteMany({ userId }).exec())).deletedCount,
    removeExpired: async (now) =>
      (await gate.run(() => apiKeys.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
    async touch(id, at) {
      // A number is more than the null of a key that was never used.
      await gate.run(() => apiKeys.updateOne({ _id: id }, { $max: { lastUsedAt: at } }).exec());
    },
  };
}
