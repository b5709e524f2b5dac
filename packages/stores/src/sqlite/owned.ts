import type { OwnedRecord, OwnedStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import type { Table } from './table.ts';
import { replaceSeen } from './versions.ts';

/** Blocks and sets. */
export function createSqliteOwned<R extends OwnedRecord>(db: Sqlite, table: Table<R>): OwnedStore<R> {
  const { name } = table;
  return {
    find: async (tenant, id) =>
      table.one(db.get(`SELECT * FROM ${name} WHERE tenant = ? AND id = ?`, tenant, id)),
    async findMany(tenant, ids) {
      if (ids.length === 0) return [];
      const places = ids.map(() => '?').join(', ');
      return table.all(
        db.all(`SELECT * FROM ${name} WHERE tenant = ? AND id IN (${places}) ORDER BY id`, tenant, ...ids),
      );
    },
    insert: (record, most) =>
      db.write((tx) => {
        const { tenant, owner } = record;
        const held = tx.get(
          `SELECT count(*) AS n FROM ${name} WHERE tenant = ? AND owner = ?`,
          tenant,
          owner,
        );
        if (Number(held?.['n']) >= most) return 'full';
        table.insert(tx, record);
        return 'inserted';
      }),
    replace: (record, seen) => db.write((tx) => replaceSeen(tx, table, record, seen)),
    remove: async (tenant, id) =>
      (await db.write((tx) => tx.run(`DELETE FROM ${name} WHERE tenant = ? AND id = ?`, tenant, id))) > 0,
  };
}
