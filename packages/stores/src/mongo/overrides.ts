import type { OverrideRecord, OverrideStore } from '@behalf/gateway/ports';
import { recordOrNull, recordsOf } from './documents.ts';
import { isDuplicateKey } from './failures.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';
import { replaceSeen } from './versions.ts';

export function createMongoOverrides({ overrides }: Models, gate: Gate): OverrideStore {
  const insert = async ({ id, ...rest }: OverrideRecord) => {
    try {
      await gate.run(() => overrides.create([{ _id: id, ...rest }]));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  };

  return {
    list: async () =>
      recordsOf('overrides', await gate.run(() => overrides.find({}).sort({ _id: 1 }).lean().exec())),
    find: async (tenant, name) =>
      recordOrNull('overrides', await gate.run(() => overrides.findOne({ tenant, name }).lean().exec())),
    async put(override, seen) {
      const done =
        seen === null
          ? await insert(override)
          : (await replaceSeen(overrides, gate, override, seen)) === 'replaced';
      return done ? 'stored' : 'version_conflict';
    },
    async remove(tenant, name, seen) {
      const gone = await gate.run(() => overrides.deleteOne({ tenant, name, version: seen }).exec());
      if (gone.deletedCount === 1) return 'removed';
      const there = await gate.run(() => overrides.exists({ tenant, name }).exec());
      return there === null ? 'missing' : 'version_conflict';
    },
  };
}
