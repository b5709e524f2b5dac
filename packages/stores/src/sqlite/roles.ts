import type { RoleStore } from '@behalf/gateway/ports';
import { isUniqueViolation, type Sqlite } from './database.ts';
import { createTable } from './table.ts';
import { replaceIfVersion } from './replaceIfVersion.ts';

export function createSqliteRoles(db: Sqlite): RoleStore {
  const roles = createTable('roles');
  return {
    list: async () => roles.toRecords(db.all('SELECT * FROM roles ORDER BY id')),
    find: async (tenant, name) =>
      roles.toRecord(db.get('SELECT * FROM roles WHERE tenant = ? AND name = ?', tenant, name)),
    async insert(role) {
      try {
        await db.write((tx) => roles.insert(tx, role));
        return 'inserted';
      } catch (error) {
        if (isUniqueViolation(error)) return 'taken';
        throw error;
      }
    },
    replace: (role, expectedVersion) => db.write((tx) => replaceIfVersion(tx, roles, role, expectedVersion)),
    remove: async (tenant, name) =>
      (await db.write((tx) => tx.run('DELETE FROM roles WHERE tenant = ? AND name = ?', tenant, name))) > 0,
  };
}
