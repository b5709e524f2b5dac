import type { SessionRecord, SessionStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';

export function createSqliteSessions(db: Sqlite): SessionStore {
  return {
    insert: async ({ hash, userId, tenant, createdAt, expiresAt }) =>
      void (await db.write((tx) =>
        tx.run(
          'INSERT INTO sessions (hash, userId, tenant, createdAt, expiresAt) VALUES (?, ?, ?, ?, ?)',
          hash,
          userId,
          tenant,
          createdAt,
          expiresAt,
        ),
      )),
    find: async (hash, now) =>
      (db.get('SELECT * FROM sessions WHERE hash = ? AND expiresAt > ?', hash, now) as unknown as
        SessionRecord | undefined) ?? null,
    remove: async (hash) => (await db.write((tx) => tx.run('DELETE FROM sessions WHERE hash = ?', hash))) > 0,
    removeOfUser: (userId) => db.write((tx) => tx.run('DELETE FROM sessions WHERE userId = ?', userId)),
    removeExpired: (now) => db.write((tx) => tx.run('DELETE FROM sessions WHERE expiresAt <= ?', now)),
  };
}
