import type { OverrideRecord, OverrideStore } from '@behalf/gateway/ports';
import { toRecordOrNull, toRecords } from './documents.ts';
import { isDuplicateKey } from './failures.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';
import { replaceIfVersion } from './replaceIfVersion.ts';

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
