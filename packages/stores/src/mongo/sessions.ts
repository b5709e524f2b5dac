import type { SessionStore } from '@behalf/gateway/ports';
import { recordOrNull, recordsOf } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';

export function createMongoSessions({ sessions }: Models, gate: Gate): SessionStore {
  return {
    async insert({ hash, ...rest }) {
      await gate.run(() => sessions.create([{ _id: hash, ...rest }]));
    },
    async find(hash, now) {
      const live = { _id: hash, expiresAt: { $gt: now } };
      return recordOrNull('sessions', await gate.run(() => sessions.findOne(live).lean().exec()));
    },
    async filterActive(hashes, now) {
      const live = { _id: { $in: [...hashes] }, expiresAt: { $gt: now } };
      const docs = await gate.run(() => sessions.find(live, { _id: 1 }).lean().exec());
      return docs.map(({ _id }) => _id);
    },
    async list(userId, now) {
      const live = { userId, expiresAt: { $gt: now } };
      const docs = await gate.run(() => sessions.find(live).sort({ createdAt: 1, _id: 1 }).lean().exec());
      return recordsOf('sessions', docs);
    },
    remove: async (hash) =>
      (await gate.run(() => sessions.deleteOne({ _id: hash }).exec())).deletedCount === 1,
    removeByUser: async (userId) =>
      (await gate.run(() => sessions.deleteMany({ userId }).exec())).deletedCount,
    removeExpired: async (now) =>
      (await gate.run(() => sessions.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
  };
}
