import type { RoleStore } from '@behalf/gateway/ports';
import { toRecordOrNull, toRecords } from './documents.ts';
import { isDuplicateKey } from './failures.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';
import { replaceIfVersion } from './replaceIfVersion.ts';

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
