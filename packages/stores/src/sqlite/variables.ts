import type { UserVariableRecord, UserVariableStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';

const OF_USER = 'tenant = ? AND userId = ? AND serverId = ?';

export function createSqliteVariables(db: Sqlite): UserVariableStore {
  return {
    list: async (tenant, userId, serverId) =>
      db.all(
        `SELECT * FROM variables WHERE ${OF_USER} ORDER BY name`,
        tenant,
        userId,
        serverId,
      ) as unknown as UserVariableRecord[],
    async put(records) {
      if (records.length === 0) return;
      await db.write((tx) => {
        for (const { id, tenant, userId, serverId, name, valueSealed, updatedAt } of records) {
          tx.run(
            `INSERT INTO variables (id, tenant, userId, serverId, name, valueSealed, updatedAt)
              VALUES (?, ?, ?, ?, ?, ?, ?)
              ON CONFLICT (id) DO UPDATE SET valueSealed = excluded.valueSealed, updatedAt = excluded.updatedAt`,
            id,
            tenant,
            userId,
            serverId,
            name,
            valueSealed,
            updatedAt,
          );
        }
      });
    },
    remove: async (tenant, userId, serverId, name) =>
      (await db.write((tx) =>
        tx.run(`DELETE FROM variables WHERE ${OF_USER} AND name = ?`, tenant, userId, serverId, name),
      )) > 0,
    removeAll: (tenant, userId, serverId) =>
      db.write((tx) => tx.run(`DELETE FROM variables WHERE ${OF_USER}`, tenant, userId, serverId)),
    removeOfServer: (tenant, serverId) =>
      db.write((tx) => tx.run('DELETE FROM variables WHERE tenant = ? AND serverId = ?', tenant, serverId)),
    removeOfUser: (tenant, userId) =>
      db.write((tx) => tx.run('DELETE FROM variables WHERE tenant = ? AND userId = ?', tenant, userId)),
  };
}
