import {
  type CollectionName,
  type Collections,
  type RawCollections,
  type ResealedValue,
  collectionShapes,
} from '@behalf/gateway/ports';
import type { Tables } from './tables.ts';

export function createMemoryRaw(tables: Tables): RawCollections {
  return {
    count: async (name) => tables[name].size,
    async page(name, after, limit) {
      return [...tables[name].entries()]
        .filter(([key]) => after === null || key > after)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([, record]) => ({ ...record }));
    },
    async put<N extends CollectionName>(name: N, records: readonly Collections[N][]) {
      const { key } = collectionShapes[name];
      const table: Map<string, Collections[N]> = tables[name];
      for (const record of records) table.set(String(record[key]), { ...record });
    },
    async reseal<N extends CollectionName>(name: N, values: readonly ResealedValue<Collections[N]>[]) {
      const table: Map<string, Collections[N]> = tables[name];
      let resealed = 0;
      for (const { key, field, oldValue, newValue } of values) {
        const record = table.get(key);
        if (record?.[field] !== oldValue) continue;
        table.set(key, { ...record, [field]: newValue });
        resealed += 1;
      }
      return resealed;
    },
    async remove(name, keys) {
      for (const key of keys) tables[name].delete(key);
    },
  };
}
