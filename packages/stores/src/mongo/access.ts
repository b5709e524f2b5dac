import type { AclStore, RoleStore } from '@behalf/gateway/ports';
import { type CommandRunner, isDuplicateKey } from './connection.ts';
import { replaceIfVersion, toRecordOrNull, toRecords } from './documents.ts';
import type { Models } from './models.ts';
import type { AclDoc } from './schemas.ts';

export function createMongoRoles({ roles }: Models, runner: CommandRunner): RoleStore {
  return {
    list: async () =>
      toRecords('roles', await runner.run(() => roles.find({}).sort({ _id: 1 }).lean().exec())),
    find: async (tenant, name) =>
      toRecordOrNull('roles', await runner.run(() => roles.findOne({ tenant, name }).lean().exec())),
    async insert({ id, ...rest }) {
      try {
        await runner.run(() => roles.create([{ _id: id, ...rest }]));
        return 'inserted';
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
    },
    replace: (role, expectedVersion) => replaceIfVersion(roles, runner, role, expectedVersion),
    remove: async (tenant, name) =>
      (await runner.run(() => roles.deleteOne({ tenant, name }).exec())).deletedCount === 1,
  };
}

export function createMongoAcl({ acl }: Models, runner: CommandRunner): AclStore {
  const list = async (filter: Partial<AclDoc>) =>
    toRecords('acl', await runner.run(() => acl.find(filter).sort({ _id: 1 }).lean().exec()));
  const removeWhere = async (filter: Partial<AclDoc>) =>
    (await runner.run(() => acl.deleteMany(filter).exec())).deletedCount;

  return {
    list: () => list({}),
    listByServer: (tenant, serverId) => list({ tenant, serverId }),
    async change({ put, remove }) {
      const removedIds = new Set(remove);
      const rows = put.filter(({ id }) => !removedIds.has(id));
      if (removedIds.size + rows.length === 0) return;
      // In sequence, because a MongoDB without a replica set has no transactions. Revocations come before
      // grants, so an interrupted change never leaves excess access. Repeating the writes changes nothing.
      const writes = [
        ...[...removedIds].map((_id) => ({ deleteOne: { filter: { _id } } })),
        ...rows.map(({ id, ...rest }) => ({
          replaceOne: { filter: { _id: id }, replacement: { _id: id, ...rest }, upsert: true },
        })),
      ];
      await runner.runUpsert(() => acl.bulkWrite(writes, { ordered: true }));
    },
    removeByServer: (tenant, serverId) => removeWhere({ tenant, serverId }),
    removeByPrincipal: (tenant, type, principalId) =>
      removeWhere({ tenant, principalType: type, principalId }),
  };
}
