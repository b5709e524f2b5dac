import type { AclStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

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
