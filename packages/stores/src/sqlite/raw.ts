import {
  collectionShapes,
  type CollectionName,
  type Collections,
  type RawCollections,
} from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

export function createSqliteRaw(db: Sqlite): RawCollections {
  return {
    count: async (name) => Number(db.get(`SELECT count(*) AS n FROM ${name}`)?.['n']),
    async page<N extends CollectionName>(name: N, after: string | null, limit: number) {
      const table = createTable(name);
      const { key } = table;
      return table.all(
        db.all(`SELECT * FROM ${name} WHERE ${key} > ? ORDER BY ${key} LIMIT ?`, after ?? '', limit),
      );
    },
    async put<N extends CollectionName>(name: N, records: readonly Collections[N][]) {
      const table = createTable(name);
      await db.write((tx) => {
        for (const record of records) table.force(tx, record);
      });
    },
    async remove(name, keys) {
      const sql = `DELETE FROM ${name} WHERE ${collectionShapes[name].key} = ?`;
      await db.write((tx) => {
        for (const key of keys) tx.run(sql, key);
      });
    },
  };
}
