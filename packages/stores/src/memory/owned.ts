import type { OwnedRecord, OwnedStore } from '@behalf/gateway/ports';
import { copiesOf, copyOf, inOrderOf } from './records.ts';

/** Blocks and sets. */
export function createMemoryOwned<R extends OwnedRecord>(table: Map<string, R>): OwnedStore<R> {
  const find = (tenant: string, id: string) => {
    const record = table.get(id);
    return record?.tenant === tenant ? record : undefined;
  };

  return {
    find: async (tenant, id) => copyOf(find(tenant, id)),
    findMany: async (tenant, ids) =>
      copiesOf(
        [...new Set(ids)].flatMap((id) => find(tenant, id) ?? []).sort(inOrderOf((record) => record.id)),
      ),
    async insert(record, most) {
      const { tenant, owner } = record;
      if (table.has(record.id)) throw new Error('A record of this id exists');
      const own = [...table.values()].filter((other) => other.tenant === tenant && other.owner === owner);
      if (own.length >= most) return 'full';
      table.set(record.id, { ...record });
      return 'inserted';
    },
    async replace(record, seen) {
      const current = find(record.tenant, record.id);
      if (!current) return 'missing';
      if (current.version !== seen) return 'version_conflict';
      table.set(record.id, { ...record });
      return 'replaced';
    },
    remove: async (tenant, id) => find(tenant, id) !== undefined && table.delete(id),
  };
}
