import { overrideId, type OverrideStore } from '@behalf/gateway/ports';
import { copiesOf, copyOf, inOrderOf } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryOverrides({ overrides }: Tables): OverrideStore {
  return {
    list: async () => copiesOf([...overrides.values()].sort(inOrderOf(({ id }) => id))),
    find: async (tenant, name) => copyOf(overrides.get(overrideId(tenant, name))),
    async put(override, seen) {
      const current = overrides.get(override.id);
      if ((current?.version ?? null) !== seen) return 'version_conflict';
      overrides.set(override.id, { ...override });
      return 'stored';
    },
    async remove(tenant, name, seen) {
      const id = overrideId(tenant, name);
      const current = overrides.get(id);
      if (!current) return 'missing';
      if (current.version !== seen) return 'version_conflict';
      overrides.delete(id);
      return 'removed';
    },
  };
}
