import type { AuthorizationServerRecord, AuthorizationServerStore } from '@behalf/gateway/ports';
import { recordOf, recordOrNull, recordsOf } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';

export function createMongoFacade(
  { authorizationServer: records }: Models,
  gate: Gate,
): AuthorizationServerStore {
  /** The record under this key after one try to be the first. */
  async function first({ key, ...rest }: AuthorizationServerRecord): Promise<AuthorizationServerRecord> {
    const options = { upsert: true, returnDocument: 'after' } as const;
    const doc = await gate.runUpsert(() =>
      records.findOneAndUpdate({ _id: key }, { $setOnInsert: rest }, options).lean().orFail().exec(),
    );
    return recordOf('authorizationServer', doc);
  }

  return {
    async insert(record, now) {
      const held = await first(record);
      // What is sealed is never the same twice: it tells our own from another's.
      if (held.sealed === record.sealed) return null;
      if (held.expiresAt > now) return held;
      await gate.run(() => records.deleteOne({ _id: record.key, sealed: held.sealed }).exec());
      const again = await first(record);
      return again.sealed === record.sealed ? null : again;
    },
    async put({ key, ...rest }) {
      await gate.runUpsert(() => records.updateOne({ _id: key }, { $set: rest }, { upsert: true }).exec());
    },
    async find(key, now) {
      const live = { _id: key, expiresAt: { $gt: now } };
      return recordOrNull('authorizationServer', await gate.run(() => records.findOne(live).lean().exec()));
    },
    async list(kind, family, now) {
      const live = { kind, family, expiresAt: { $gt: now } };
      const docs = await gate.run(() => records.find(live).sort({ createdAt: 1, _id: 1 }).lean().exec());
      return recordsOf('authorizationServer', docs);
    },
    async consume(key, now) {
      const open = { _id: key, consumedAt: null, expiresAt: { $gt: now } };
      const taken = await gate.run(() => records.updateOne(open, { $set: { consumedAt: now } }).exec());
      return taken.matchedCount === 1;
    },
    remove: async (key) => (await gate.run(() => records.deleteOne({ _id: key }).exec())).deletedCount === 1,
    removeFamily: async (kind, family) =>
      (await gate.run(() => records.deleteMany({ kind, family }).exec())).deletedCount,
    count: (kind) => gate.run(() => records.countDocuments({ kind }).exec()),
    async removeEarliest(kind, most, until) {
      const meant = { kind, expiresAt: { $lte: until } };
      for (;;) {
        const first = await gate.run(() =>
          records.find(meant, { _id: 1 }).sort({ expiresAt: 1 }).limit(most).lean().exec(),
        );
        if (first.length === 0) return 0;
        // Asked again here: one of them may have got more time.
        const these = { ...meant, _id: { $in: first.map(({ _id }) => _id) } };
        const { deletedCount } = await gate.run(() => records.deleteMany(these).exec());
        // Another process took the very same ones: the next are as good.
        if (deletedCount > 0) return deletedCount;
      }
    },
    removeExpired: async (now) =>
      (await gate.run(() => records.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
  };
}
