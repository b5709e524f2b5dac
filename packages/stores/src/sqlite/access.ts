import type { AclStore, RoleStore } from '@behalf/gateway/ports';
import { type Sqlite, isUniqueViolation } from './database.ts';
import { createTable, replaceIfVersion } from './table.ts';

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

const OF_SERVER = 'tenant = ? AND serverId = ?';

export function createSqliteAcl(db: Sqlite): AclStore {
  const acl = createTable('acl');
  return {
    list: async () => acl.toRecords(db.all('SELECT * FROM acl ORDER BY id')),
    listByServer: async (tenant, serverId) =>
      acl.toRecords(db.all(`SELECT * FROM acl WHERE ${OF_SERVER} ORDER BY id`, tenant, serverId)),
    async change({ put, remove }) {
      await db.write((tx) => {
        for (const row of put) acl.put(tx, row);
        for (const id of remove) tx.run('DELETE FROM acl WHERE id = ?', id);
      });
    },
    removeByServer: (tenant, serverId) =>
      db.write((tx) => tx.run(`DELETE FROM acl WHERE ${OF_SERVER}`, tenant, serverId)),
    removeByPrincipal: (tenant, type, principalId) =>
      db.write((tx) =>
        tx.run(
          'DELETE FROM acl WHERE tenant = ? AND principalType = ? AND principalId = ?',
          tenant,
          type,
          principalId,
        ),
      ),
  };
}
