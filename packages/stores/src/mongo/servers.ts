import type { DraftStore, OverrideRecord, OverrideStore, ServerStore } from '@behalf/gateway/ports';
import { type CommandRunner, isDuplicateKey } from './connection.ts';
import { replaceIfVersion, toRecordOrNull, toRecords } from './documents.ts';
import type { Models, ServerDoc } from './models.ts';
import { buildInFutureMsExpression } from './storeTime.ts';

export function createMongoServers({ servers }: Models, runner: CommandRunner): ServerStore {
  return {
    async insert({ id, ...rest }) {
      try {
        await runner.run(() => servers.create([{ _id: id, ...rest }]));
        return 'inserted';
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
    },
    async replace(server, expectedVersion) {
      try {
        return await replaceIfVersion(servers, runner, server, expectedVersion);
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
    },
    remove: async (tenant, id) =>
      (await runner.run(() => servers.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
    find: async (tenant, id) =>
      toRecordOrNull('servers', await runner.run(() => servers.findOne({ _id: id, tenant }).lean().exec())),
    findByName: async (tenant, name) =>
      toRecordOrNull('servers', await runner.run(() => servers.findOne({ tenant, name }).lean().exec())),
    list: async () =>
      toRecords('servers', await runner.run(() => servers.find({}).sort({ _id: 1 }).lean().exec())),
    async listNames(tenant) {
      const docs = await runner.run(() =>
        servers
          .find({ tenant }, { name: 1, normalizedName: 1, author: 1 })
          .sort({ _id: 1 })
          .lean<Pick<ServerDoc, '_id' | 'name' | 'normalizedName' | 'author'>[]>()
          .exec(),
      );
      return docs.map(({ _id, name, normalizedName, author }) => ({ id: _id, name, normalizedName, author }));
    },
    async listVersions() {
      const docs = await runner.run(() =>
        servers.find({}, { version: 1 }).sort({ _id: 1 }).lean<Pick<ServerDoc, '_id' | 'version'>[]>().exec(),
      );
      return docs.map(({ _id, version }) => ({ id: _id, version }));
    },
  };
}

export function createMongoOverrides({ overrides }: Models, runner: CommandRunner): OverrideStore {
  const insert = async ({ id, ...rest }: OverrideRecord) => {
    try {
      await runner.run(() => overrides.create([{ _id: id, ...rest }]));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  };

  return {
    list: async () =>
      toRecords('overrides', await runner.run(() => overrides.find({}).sort({ _id: 1 }).lean().exec())),
    find: async (tenant, name) =>
      toRecordOrNull('overrides', await runner.run(() => overrides.findOne({ tenant, name }).lean().exec())),
    async put(override, expectedVersion) {
      const isStored =
        expectedVersion === null
          ? await insert(override)
          : (await replaceIfVersion(overrides, runner, override, expectedVersion)) === 'replaced';
      return isStored ? 'stored' : 'version_conflict';
    },
    async remove(tenant, name, expectedVersion) {
      const result = await runner.run(() =>
        overrides.deleteOne({ tenant, name, version: expectedVersion }).exec(),
      );
      if (result.deletedCount === 1) return 'removed';
      const existing = await runner.run(() => overrides.exists({ tenant, name }).exec());
      return existing === null ? 'missing' : 'version_conflict';
    },
  };
}

export function createMongoDrafts({ drafts }: Models, runner: CommandRunner): DraftStore {
  const count = (tenant: string, userId: string, after: number) =>
    runner.run(() => drafts.countDocuments({ tenant, userId, expiresAt: { $gt: after } }).exec());

  return {
    async insert({ id, ...rest }, maxPerUser) {
      const { tenant, userId, createdAt } = rest;
      if ((await count(tenant, userId, createdAt)) >= maxPerUser) return 'full';
      await runner.run(() => drafts.create([{ _id: id, ...rest }]));
      // Concurrent inserts may exceed the limit: every process that sees too many removes its own record.
      if ((await count(tenant, userId, createdAt)) <= maxPerUser) return 'inserted';
      await runner.run(() => drafts.deleteOne({ _id: id, tenant }).exec());
      return 'full';
    },
    find: async (tenant, id) =>
      toRecordOrNull('drafts', await runner.run(() => drafts.findOne({ _id: id, tenant }).lean().exec())),
    findById: async (id) =>
      toRecordOrNull('drafts', await runner.run(() => drafts.findById(id).lean().exec())),
    listByUser: async (tenant, userId) =>
      toRecords(
        'drafts',
        await runner.run(() => drafts.find({ tenant, userId }).sort({ _id: 1 }).lean().exec()),
      ),
    async consume(tenant, id, userId, now) {
      // The draft must be valid by both clocks: a replica whose clock is behind does not extend it.
      const filter = { _id: id, tenant, userId, takenAt: null, expiresAt: { $gt: now } };
      const result = await runner.run(() =>
        drafts
          .updateOne(
            { ...filter, $expr: buildInFutureMsExpression('$expiresAt') },
            { $set: { takenAt: now, expiresAt: now } },
          )
          .exec(),
      );
      return result.matchedCount === 1;
    },
    listExpired: async (expiredBy, limit) =>
      toRecords(
        'drafts',
        await runner.run(() =>
          drafts
            .find({ expiresAt: { $lte: expiredBy } })
            .sort({ _id: 1 })
            .limit(limit)
            .lean()
            .exec(),
        ),
      ),
    remove: async (tenant, id) =>
      (await runner.run(() => drafts.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,
  };
}
