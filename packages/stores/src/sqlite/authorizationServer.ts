import type { AuthorizationServerStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

export function createSqliteAuthorizationServer(db: Sqlite): AuthorizationServerStore {
  const records = createTable('authorizationServer');
  const FIND_ACTIVE = 'SELECT * FROM authorizationServer WHERE key = ? AND expiresAt > ?';
  // Ordered as in the index, so that only the first entries are read. Any other order would read and sort all
  // rows of the kind.
  const REMOVE_EARLIEST = `DELETE FROM authorizationServer WHERE key IN (
    SELECT key FROM authorizationServer INDEXED BY authorizationServer_expiry WHERE kind = ? AND expiresAt <= ? ORDER BY expiresAt LIMIT ?)`;
  return {
    insert: (record, now) =>
      db.write((tx) => {
        const existing = records.toRecord(tx.get(FIND_ACTIVE, record.key, now));
        if (existing === null) records.put(tx, record);
        return existing;
      }),
    async put(record) {
      await db.write((tx) => {
        records.put(tx, record);
      });
    },
    find: async (key, now) => records.toRecord(db.get(FIND_ACTIVE, key, now)),
    list: async (kind, family, now) =>
      records.toRecords(
        db.all(
          'SELECT * FROM authorizationServer WHERE kind = ? AND family = ? AND expiresAt > ? ORDER BY createdAt, key',
          kind,
          family,
          now,
        ),
      ),
    consume: async (key, now) =>
      (await db.write((tx) =>
        tx.run(
          'UPDATE authorizationServer SET consumedAt = ? WHERE key = ? AND consumedAt IS NULL AND expiresAt > ?',
          now,
          key,
          now,
        ),
      )) === 1,
    remove: async (key) =>
      (await db.write((tx) => tx.run('DELETE FROM authorizationServer WHERE key = ?', key))) > 0,
    removeFamily: (kind, family) =>
      db.write((tx) => tx.run('DELETE FROM authorizationServer WHERE kind = ? AND family = ?', kind, family)),
    // Counted from the index, because rows are long.
    count: async (kind) =>
      Number(db.get('SELECT count(*) AS n FROM authorizationServer WHERE kind = ?', kind)?.['n']),
    removeEarliest: (kind, maxCount, expiresBy) =>
      db.write((tx) => tx.run(REMOVE_EARLIEST, kind, expiresBy, maxCount)),
    removeExpired: (now) =>
      db.write((tx) => tx.run('DELETE FROM authorizationServer WHERE expiresAt <= ?', now)),
  };
}
