import type { ApiKeyStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

export function createSqliteApiKeys(db: Sqlite): ApiKeyStore {
  const apiKeys = createTable('apiKeys');
  return {
    insert: (key) => db.write((tx) => apiKeys.insert(tx, key)),
    findByHash: async (hash, now) =>
      apiKeys.toRecord(db.get('SELECT * FROM apiKeys WHERE hash = ? AND expiresAt > ?', hash, now)),
    filterActive: async (ids, now) => {
      const placeholders = ids.map(() => '?').join(', ');
      const sql = `SELECT id FROM apiKeys WHERE id IN (${placeholders}) AND expiresAt > ?`;
      return db.all(sql, ...ids, now).map(({ id }) => String(id));
    },
    list: async (userId) =>
      apiKeys.toRecords(db.all('SELECT * FROM apiKeys WHERE userId = ? ORDER BY createdAt, id', userId)),
    remove: (userId, id) =>
      db.write((tx) => {
        const key = apiKeys.toRecord(tx.get('SELECT * FROM apiKeys WHERE id = ? AND userId = ?', id, userId));
        if (key !== null) tx.run('DELETE FROM apiKeys WHERE id = ?', id);
        return key;
      }),
    removeByUser: (userId) => db.write((tx) => tx.run('DELETE FROM apiKeys WHERE userId = ?', userId)),
    removeExpired: (now) => db.write((tx) => tx.run('DELETE FROM apiKeys WHERE expiresAt <= ?', now)),
    touch: async (id, usedAt) =>
      void (await db.write((tx) =>
        tx.run(
          'UPDATE apiKeys SET lastUsedAt = ? WHERE id = ? AND coalesce(lastUsedAt, 0) < ?',
          usedAt,
          id,
          usedAt,
        ),
      )),
  };
}
