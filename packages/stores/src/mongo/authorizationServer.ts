import type { AuthorizationServerRecord, AuthorizationServerStore } from '@behalf/gateway/ports';
import { toRecord, toRecordOrNull, toRecords } from './documents.ts';
import type { CommandRunner } from './connection.ts';
import type { Models } from './models.ts';

export function createMongoAuthorizationServer(
  { authorizationServer: records }: Models,
  runner: CommandRunner,
): AuthorizationServerStore {
  /** Inserts the record if the key is free and returns the record stored under the key. */
  async function insertIfAbsent({
    key,
    ...rest
  }: AuthorizationServerRecord): Promise<AuthorizationServerRecord> {
    const options = { upsert: true, returnDocument: 'after' } as const;
    const doc = await runner.runUpsert(() =>
      records.findOneAndUpdate({ _id: key }, { $setOnInsert: rest }, options).lean().orFail().exec(),
    );
    return toRecord('authorizationServer', doc);
  }

  return {
    async insert(record, now) {
      const existing = await insertIfAbsent(record);
      // Sealed text is unique per sealing, so equality identifies the record that this call wrote.
      if (existing.sealed === record.sealed) return null;
      if (existing.expiresAt > now) return existing;
      await runner.run(() => records.deleteOne({ _id: record.key, sealed: existing.sealed }).exec());
      const retried = await insertIfAbsent(record);
      return retried.sealed === record.sealed ? null : retried;
    },
    async put({ key, ...rest }) {
      await runner.runUpsert(() => records.updateOne({ _id: key }, { $set: rest }, { upsert: true }).exec());
    },
    async find(key, now) {
      const filter = { _id: key, expiresAt: { $gt: now } };
      return toRecordOrNull(
        'authorizationServer',
        await runner.run(() => records.findOne(filter).lean().exec()),
      );
    },
    async list(kind, family, now) {
      const filter = { kind, family, expiresAt: { $gt: now } };
      const docs = await runner.run(() => records.find(filter).sort({ createdAt: 1, _id: 1 }).lean().exec());
      return toRecords('authorizationServer', docs);
    },
    async consume(key, now) {
      const filter = { _id: key, consumedAt: null, expiresAt: { $gt: now } };
      const result = await runner.run(() => records.updateOne(filter, { $set: { consumedAt: now } }).exec());
      return result.matchedCount === 1;
    },
    remove: async (key) =>
      (await runner.run(() => records.deleteOne({ _id: key }).exec())).deletedCount === 1,
    removeFamily: async (kind, family) =>
      (await runner.run(() => records.deleteMany({ kind, family }).exec())).deletedCount,
    count: (kind) => runner.run(() => records.countDocuments({ kind }).exec()),
    async removeEarliest(kind, maxCount, expiresBy) {
      const filter = { kind, expiresAt: { $lte: expiresBy } };
      for (;;) {
        const earliest = await runner.run(() =>
          records.find(filter, { _id: 1 }).sort({ expiresAt: 1 }).limit(maxCount).lean().exec(),
        );
        if (earliest.length === 0) return 0;
        // The filter is repeated: one of the records may have been extended.
        const earliestFilter = { ...filter, _id: { $in: earliest.map(({ _id }) => _id) } };
        const { deletedCount } = await runner.run(() => records.deleteMany(earliestFilter).exec());
        // Another process removed the same records: continue with the next ones.
        if (deletedCount > 0) return deletedCount;
      }
    },
    removeExpired: async (now) =>
      (await runner.run(() => records.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
  };
}
