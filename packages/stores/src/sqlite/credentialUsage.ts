import type { CredentialUsageStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

export function createSqliteCredentialUsage(db: Sqlite): CredentialUsageStore {
  const usage = createTable('credentialUsage');
  return {
    put: (record) => db.write((tx) => usage.put(tx, record)),
    find: async (id) => usage.toRecord(db.get('SELECT * FROM credentialUsage WHERE id = ?', id)),
    listUsedSince: async (since, limit) =>
      usage.toRecords(
        db.all(
          'SELECT * FROM credentialUsage WHERE lastUsedAt >= ? ORDER BY lastUsedAt DESC, id LIMIT ?',
          since,
          limit,
        ),
      ),
    remove: async (id) =>
      (await db.write((tx) => tx.run('DELETE FROM credentialUsage WHERE id = ?', id))) > 0,
  };
}
