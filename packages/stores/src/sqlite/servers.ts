import type { ServerStore, StoredServerName } from '@behalf/gateway/ports';
import { isUniqueViolation, type Sqlite } from './database.ts';
import { createTable } from './table.ts';
import { replaceIfVersion } from './replaceIfVersion.ts';

export function createSqliteServers(db: Sqlite): ServerStore {
  const servers = createTable('servers');
  return {
    async insert(server) {
      try {
        await db.write((tx) => servers.insert(tx, server));
        return 'inserted';
      } catch (error) {
        if (isUniqueViolation(error)) return 'taken';
        throw error;
      }
    },
    async replace(server, expectedVersion) {
      try {
        return await db.write((tx) => replaceIfVersion(tx, servers, server, expectedVersion));
      } catch (error) {
        if (isUniqueViolation(error)) return 'taken';
        throw error;
      }
    },
    remove: async (tenant, id) =>
      (await db.write((tx) => tx.run('DELETE FROM servers WHERE id = ? AND tenant = ?', id, tenant))) > 0,
    find: async (tenant, id) =>
      servers.toRecord(db.get('SELECT * FROM servers WHERE id = ? AND tenant = ?', id, tenant)),
    findByName: async (tenant, name) =>
      servers.toRecord(db.get('SELECT * FROM servers WHERE tenant = ? AND name = ?', tenant, name)),
    list: async () => servers.toRecords(db.all('SELECT * FROM servers ORDER BY id')),
    listNames: async (tenant) =>
      db.all(
        'SELECT id, name, normalizedName, author FROM servers WHERE tenant = ? ORDER BY id',
        tenant,
      ) as unknown as StoredServerName[],
    listVersions: async () =>
      db.all('SELECT id, version FROM servers ORDER BY id') as unknown as { id: string; version: number }[],
  };
}
