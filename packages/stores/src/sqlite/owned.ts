import type { OwnedRecord, OwnedStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import type { Table } from './table.ts';
import { replaceIfVersion } from './replaceIfVersion.ts';

/** Blocks and sets. */
export function createSqliteOwned<R extends OwnedRecord>(db: Sqlite, table: Table<R>): OwnedStore<R> {
  const { name } = table;
  return {
    find: async (tenant, id) =>
      table.toRecord(db.get(`SELECT * FROM ${name} WHERE tenant = ? AND id = ?`, tenant, id)),
    async findMany(tenant, ids) {
      if (ids.length === 0) return [];
      const placeholders = ids.map(() => '?').join(', ');
      return table.toRecords(
        db.all(
          `SELECT * FROM ${name} WHERE tenant = ? AND id IN (${placeholders}) ORDER BY id`,
          tenant,
          ...ids,
        ),
      );
    },
    insert: (record, maxPerOwner) =>
      db.write((tx) => {
        const { tenant, owner } = record;
        const row = tx.get(`SELECT count(*) AS n FROM ${name} WHERE tenant = ? AND owner = ?`, tenant, owner);
        if (Number(row?.['n']) >= maxPerOwner) return 'full';
        table.insert(tx, record);
        return 'inserted';
      }),
    replace: (record, expectedVersion) =>
      db.write((tx) => replaceIfVersion(tx, table, record, expectedVersion)),
    remove: async (tenant, id) =>
      (await db.write((tx) => tx.run(`DELETE FROM ${name} WHERE tenant = ? AND id = ?`, tenant, id))) > 0,
  };
}
