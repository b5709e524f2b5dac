import type { OwnedRecord, OwnedStore } from '@behalf/gateway/ports';
import { copyAll, copyOrNull, compareBy } from './records.ts';

/** Blocks and sets. */
export function createMemoryOwned<R extends OwnedRecord>(table: Map<string, R>): OwnedStore<R> {
  const find = (tenant: string, id: string) => {
    const record = table.get(id);
    return record?.tenant === tenant ? record : undefined;
  };

  return {
    find: async (tenant, id) => copyOrNull(find(tenant, id)),
    findMany: async (tenant, ids) =>
      copyAll(
        [...new Set(ids)].flatMap((id) => find(tenant, id) ?? []).sort(compareBy((record) => record.id)),
      ),
    async insert(record, maxPerOwner) {
      const { tenant, owner } = record;
      if (table.has(record.id)) throw new Error('A record with this id already exists');
      const ownedRecords = [...table.values()].filter(
        (other) => other.tenant === tenant && other.owner === owner,
      );
      if (ownedRecords.length >= maxPerOwner) return 'full';
      table.set(record.id, { ...record });
      return 'inserted';
    },
    async replace(record, expectedVersion) {
      const current = find(record.tenant, record.id);
      if (!current) return 'missing';
      if (current.version !== expectedVersion) return 'version_conflict';
      table.set(record.id, { ...record });
      return 'replaced';
    },
    remove: async (tenant, id) => find(tenant, id) !== undefined && table.delete(id),
  };
}
