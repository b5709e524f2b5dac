import { overrideId, type OverrideStore } from '@behalf/gateway/ports';
import { copyAll, copyOrNull, compareBy } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryOverrides({ overrides }: Tables): OverrideStore {
  return {
    list: async () => copyAll([...overrides.values()].sort(compareBy(({ id }) => id))),
    find: async (tenant, name) => copyOrNull(overrides.get(overrideId(tenant, name))),
    async put(override, expectedVersion) {
      const current = overrides.get(override.id);
      if ((current?.version ?? null) !== expectedVersion) return 'version_conflict';
      overrides.set(override.id, { ...override });
      return 'stored';
    },
    async remove(tenant, name, expectedVersion) {
      const id = overrideId(tenant, name);
      const current = overrides.get(id);
      if (!current) return 'missing';
      if (current.version !== expectedVersion) return 'version_conflict';
      overrides.delete(id);
      return 'removed';
    },
  };
}
