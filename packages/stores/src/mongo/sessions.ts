import type { SessionStore } from '@behalf/gateway/ports';
import type { Gate } from './gate.ts';
import type { Models, SessionDoc } from './models.ts';

export function createMongoSessions({ sessions }: Models, gate: Gate): SessionStore {
  return {
    async insert({ hash, ...rest }) {
      await gate.run(() => sessions.create([{ _id: hash, ...rest }]));
    },
    async find(hash, now) {
      const live = { _id: hash, expiresAt: { $gt: now } };
      const doc = await gate.run(() => sessions.findOne(live).lean<SessionDoc>().exec());
      if (!doc) return null;
      const { _id, ...rest } = doc;
      return { hash: _id, ...rest };
    },
    remove: async (hash) =>
      (await gate.run(() => sessions.deleteOne({ _id: hash }).exec())).deletedCount === 1,
    removeOfUser: async (userId) =>
      (await gate.run(() => sessions.deleteMany({ userId }).exec())).deletedCount,
    removeExpired: async (now) =>
      (await gate.run(() => sessions.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
  };
}
