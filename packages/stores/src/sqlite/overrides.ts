import type { OverrideStore } from '@behalf/gateway/ports';
import { isUniqueViolation, type Sqlite } from './database.ts';
import { createTable } from './table.ts';
import { replaceIfVersion } from './replaceIfVersion.ts';

const BY_NAME = 'tenant = ? AND name = ?';

export function createSqliteOverrides(db: Sqlite): OverrideStore {
  const overrides = createTable('overrides');
  return {
    list: async () => overrides.toRecords(db.all('SELECT * FROM overrides ORDER BY id')),
    find: async (tenant, name) =>
      overrides.toRecord(db.get(`SELECT * FROM overrides WHERE ${BY_NAME}`, tenant, name)),
    async put(override, expectedVersion) {
      try {
        return await db.write((tx) => {
          if (expectedVersion === null) overrides.insert(tx, override);
          else if (replaceIfVersion(tx, overrides, override, expectedVersion) !== 'replaced')
            return 'version_conflict';
          return 'stored';
        });
      } catch (error) {
        if (isUniqueViolation(error)) return 'version_conflict';
        throw error;
      }
    },
    remove: (tenant, name, expectedVersion) =>
      db.write((tx) => {
        if (
          tx.run(`DELETE FROM overrides WHERE ${BY_NAME} AND version = ?`, tenant, name, expectedVersion) > 0
        )
          return 'removed';
        const existing = tx.get(`SELECT 1 FROM overrides WHERE ${BY_NAME}`, tenant, name);
        return existing === undefined ? 'missing' : 'version_conflict';
      }),
  };
}
