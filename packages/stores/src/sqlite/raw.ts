import {
  collectionShapes,
  type CollectionName,
  type Collections,
  type RawCollections,
} from '@behalf/gateway/ports';
import type { Param, Sqlite } from './database.ts';

/** The columns of each moved table, in order. */
const columns: { [N in CollectionName]: readonly (keyof Collections[N] & string)[] } = {
  users: [
    'id',
    'tenant',
    'issuer',
    'subject',
    'email',
    'name',
    'role',
    'passwordSealed',
    'createdAt',
    'updatedAt',
  ],
  sessions: ['hash', 'userId', 'tenant', 'createdAt', 'expiresAt'],
  tickets: ['hash', 'kind', 'createdAt', 'expiresAt', 'consumedAt'],
  system: ['name', 'value'],
  variables: ['id', 'tenant', 'userId', 'serverId', 'name', 'valueSealed', 'updatedAt'],
  servers: [
    'id',
    'tenant',
    'name',
    'normalizedName',
    'author',
    'version',
    'configSealed',
    'createdAt',
    'updatedAt',
    'updatedBy',
  ],
};

export function createSqliteRaw(db: Sqlite): RawCollections {
  return {
    count: async (name) => Number(db.get(`SELECT count(*) AS n FROM ${name}`)?.['n']),
    async page<N extends CollectionName>(name: N, after: string | null, limit: number) {
      const { key } = collectionShapes[name];
      const rows = db.all(
        `SELECT ${columns[name].join(', ')} FROM ${name} WHERE ${key} > ? ORDER BY ${key} LIMIT ?`,
        after ?? '',
        limit,
      );
      return rows as unknown as Collections[N][];
    },
    async put<N extends CollectionName>(name: N, records: readonly Collections[N][]) {
      const names = columns[name];
      const sql = `INSERT OR REPLACE INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
      await db.write((tx) => {
        for (const record of records) tx.run(sql, ...names.map((column) => record[column] as Param));
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
