import {
  collectionShapes,
  type CollectionName,
  type Collections,
  type RawCollections,
  type ResealedValue,
} from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

export function createSqliteRaw(db: Sqlite): RawCollections {
  return {
    count: async (name) => Number(db.get(`SELECT count(*) AS n FROM ${name}`)?.['n']),
    async page<N extends CollectionName>(name: N, after: string | null, limit: number) {
      const table = createTable(name);
      const { key } = table;
      return table.toRecords(
        db.all(`SELECT * FROM ${name} WHERE ${key} > ? ORDER BY ${key} LIMIT ?`, after ?? '', limit),
      );
    },
    async put<N extends CollectionName>(name: N, records: readonly Collections[N][]) {
      const table = createTable(name);
      await db.write((tx) => {
        for (const record of records) table.replaceConflicting(tx, record);
      });
    },
    reseal<N extends CollectionName>(name: N, values: readonly ResealedValue<Collections[N]>[]) {
      const keyColumn = collectionShapes[name].key;
      return db.write((tx) => {
        let resealed = 0;
        for (const { key, field, oldValue, newValue } of values) {
          const sql = `UPDATE ${name} SET ${field} = ? WHERE ${keyColumn} = ? AND ${field} = ?`;
          resealed += tx.run(sql, newValue, key, oldValue);
        }
        return resealed;
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
