import type { SessionStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

export function createSqliteSessions(db: Sqlite): SessionStore {
  const sessions = createTable('sessions');
  return {
    insert: (session) => db.write((tx) => sessions.insert(tx, session)),
    find: async (hash, now) =>
      sessions.toRecord(db.get('SELECT * FROM sessions WHERE hash = ? AND expiresAt > ?', hash, now)),
    filterActive: async (hashes, now) => {
      const placeholders = hashes.map(() => '?').join(', ');
      const sql = `SELECT hash FROM sessions WHERE hash IN (${placeholders}) AND expiresAt > ?`;
      return db.all(sql, ...hashes, now).map(({ hash }) => String(hash));
    },
    list: async (userId, now) =>
      sessions.toRecords(
        db.all(
          'SELECT * FROM sessions WHERE userId = ? AND expiresAt > ? ORDER BY createdAt, hash',
          userId,
          now,
        ),
      ),
    remove: async (hash) => (await db.write((tx) => tx.run('DELETE FROM sessions WHERE hash = ?', hash))) > 0,
    removeByUser: (userId) => db.write((tx) => tx.run('DELETE FROM sessions WHERE userId = ?', userId)),
    removeExpired: (now) => db.write((tx) => tx.run('DELETE FROM sessions WHERE expiresAt <= ?', now)),
  };
}
