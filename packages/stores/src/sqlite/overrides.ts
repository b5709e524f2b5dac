import type { OverrideStore } from '@behalf/gateway/ports';
import { isUniqueViolation, type Sqlite } from './database.ts';
import { createTable } from './table.ts';
import { replaceSeen } from './versions.ts';

const NAMED = 'tenant = ? AND name = ?';

export function createSqliteOverrides(db: Sqlite): OverrideStore {
  const overrides = createTable('overrides');
  return {
    list: async () => overrides.all(db.all('SELECT * FROM overrides ORDER BY id')),
    find: async (tenant, name) =>
      overrides.one(db.get(`SELECT * FROM overrides WHERE ${NAMED}`, tenant, name)),
    async put(override, seen) {
      try {
        return await db.write((tx) => {
          if (seen === null) overrides.insert(tx, override);
          else if (replaceSeen(tx, overrides, override, seen) !== 'replaced') return 'version_conflict';
          return 'stored';
        });
      } catch (error) {
        if (isUniqueViolation(error)) return 'version_conflict';
        throw error;
      }
    },
    remove: (tenant, name, seen) =>
      db.write((tx) => {
        if (tx.run(`DELETE FROM overrides WHERE ${NAMED} AND version = ?`, tenant, name, seen) > 0)
          return 'removed';
        const there = tx.get(`SELECT 1 FROM overrides WHERE ${NAMED}`, tenant, name);
        return there === undefined ? 'missing' : 'version_conflict';
      }),
  };
}
