import type { ApiKeyStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

export function createSqliteApiKeys(db: Sqlite): ApiKeyStore {
  const apiKeys = createTable('apiKeys');
  return {
    insert: (key) => db.write((tx) => apiKeys.insert(tx, key)),
    findByHash: async (hash, now) =>
      apiKeys.one(db.get('SELECT * FROM apiKeys WHERE hash = ? AND expiresAt > ?', hash, now)),
    filterActive: async (ids, now) => {
      const places = ids.map(() => '?').join(', ');
      const live = `SELECT id FROM apiKeys WHERE id IN (${places}) AND expiresAt > ?`;
      return db.all(live, ...ids, now).map(({ id }) => String(id));
    },
    list: async (userId) =>
      apiKeys.all(db.all('SELECT * FROM apiKeys WHERE userId = ? ORDER BY createdAt, id', userId)),
    remove: (userId, id) =>
      db.write((tx) => {
        const key = apiKeys.one(tx.get('SELECT * FROM apiKeys WHERE id = ? AND userId = ?', id, userId));
        if (key !== null) tx.run('DELETE FROM apiKeys WHERE id = ?', id);
        return key;
      }),
    removeByUser: (userId) => db.write((tx) => tx.run('DELETE FROM apiKeys WHERE userId = ?', userId)),
    removeExpired: (now) => db.write((tx) => tx.run('DELETE FROM apiKeys WHERE expiresAt <= ?', now)),
    touch: async (id, at) =>
      void (await db.write((tx) =>
        tx.run('UPDATE apiKeys SET lastUsedAt = ? WHERE id = ? AND coalesce(lastUsedAt, 0) < ?', at, id, at),
      )),
  };
}
