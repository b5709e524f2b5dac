import type { UserVariableStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

const OF_USER = 'tenant = ? AND userId = ? AND serverId = ?';

export function createSqliteVariables(db: Sqlite): UserVariableStore {
  const variables = createTable('variables');
  return {
    list: async (tenant, userId, serverId) =>
      variables.toRecords(
        db.all(`SELECT * FROM variables WHERE ${OF_USER} ORDER BY name`, tenant, userId, serverId),
      ),
    async put(records) {
      if (records.length === 0) return;
      await db.write((tx) => {
        for (const record of records) variables.put(tx, record);
      });
    },
    remove: async (tenant, userId, serverId, name) =>
      (await db.write((tx) =>
        tx.run(`DELETE FROM variables WHERE ${OF_USER} AND name = ?`, tenant, userId, serverId, name),
      )) > 0,
    removeAll: (tenant, userId, serverId) =>
      db.write((tx) => tx.run(`DELETE FROM variables WHERE ${OF_USER}`, tenant, userId, serverId)),
    removeByServer: (tenant, serverId) =>
      db.write((tx) => tx.run('DELETE FROM variables WHERE tenant = ? AND serverId = ?', tenant, serverId)),
    removeByUser: (tenant, userId) =>
      db.write((tx) => tx.run('DELETE FROM variables WHERE tenant = ? AND userId = ?', tenant, userId)),
  };
}
