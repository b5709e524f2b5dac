import type { SessionStore } from '@behalf/gateway/ports';
import { toRecordOrNull, toRecords } from './documents.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';

export function createMongoSessions({ sessions }: Models, runner: CommandRunner): SessionStore {
  return {
    async insert({ hash, ...rest }) {
      await runner.run(() => sessions.create([{ _id: hash, ...rest }]));
    },
    async find(hash, now) {
      const filter = { _id: hash, expiresAt: { $gt: now } };
      return toRecordOrNull('sessions', await runner.run(() => sessions.findOne(filter).lean().exec()));
    },
    async filterActive(hashes, now) {
      const filter = { _id: { $in: [...hashes] }, expiresAt: { $gt: now } };
      const docs = await runner.run(() => sessions.find(filter, { _id: 1 }).lean().exec());
      return docs.map(({ _id }) => _id);
    },
    async list(userId, now) {
      const filter = { userId, expiresAt: { $gt: now } };
      const docs = await runner.run(() => sessions.find(filter).sort({ createdAt: 1, _id: 1 }).lean().exec());
      return toRecords('sessions', docs);
    },
    remove: async (hash) =>
      (await runner.run(() => sessions.deleteOne({ _id: hash }).exec())).deletedCount === 1,
    removeByUser: async (userId) =>
      (await runner.run(() => sessions.deleteMany({ userId }).exec())).deletedCount,
    removeExpired: async (now) =>
      (await runner.run(() => sessions.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
  };
}
