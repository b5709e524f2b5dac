import type { ServerStore, StoredServerRecord } from '@behalf/gateway/ports';
import { isUniqueViolation, type Row, type Sqlite } from './database.ts';

export function createSqliteServers(db: Sqlite): ServerStore {
  return {
    async insert(server) {
      try {
        await db.write((tx) =>
          tx.run(
            `INSERT INTO servers
              (id, tenant, name, normalizedName, author, version, configSealed, createdAt, updatedAt, updatedBy)
              VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
            server.id,
            server.tenant,
            server.name,
            server.normalizedName,
            server.author,
            server.version,
            server.configSealed,
            server.createdAt,
            server.updatedAt,
            server.updatedBy,
          ),
        );
        return 'inserted';
      } catch (error) {
        if (isUniqueViolation(error)) return 'taken';
        throw error;
      }
    },
    async replace(server, seen) {
      try {
        return await db.write((tx) => {
          const changed = tx.run(
            `UPDATE servers SET name = ?, normalizedName = ?, author = ?, version = ?, configSealed = ?,
              createdAt = ?, updatedAt = ?, updatedBy = ? WHERE id = ? AND tenant = ? AND version = ?`,
            server.name,
            server.normalizedName,
            server.author,
            server.version,
            server.configSealed,
            server.createdAt,
            server.updatedAt,
            server.updatedBy,
            server.id,
            server.tenant,
            seen,
          );
          if (changed > 0) return 'replaced';
          const there = tx.get('SELECT 1 FROM servers WHERE id = ? AND tenant = ?', server.id, server.tenant);
          return there === undefined ? 'missing' : 'version_conflict';
        });
      } catch (error) {
        if (isUniqueViolation(error)) return 'taken';
        throw error;
      }
    },
    remove: async (tenant, id) =>
      (await db.write((tx) => tx.run('DELETE FROM servers WHERE id = ? AND tenant = ?', id, tenant))) > 0,
    find: async (tenant, id) =>
      asServer(db.get('SELECT * FROM servers WHERE id = ? AND tenant = ?', id, tenant)),
    findByName: async (tenant, name) =>
      asServer(db.get('SELECT * FROM servers WHERE tenant = ? AND name = ?', tenant, name)),
    list: async () => db.all('SELECT * FROM servers ORDER BY id') as unknown as StoredServerRecord[],
    versions: async () =>
      db.all('SELECT id, version FROM servers ORDER BY id') as unknown as { id: string; version: number }[],
  };
}

function asServer(row: Row | undefined): StoredServerRecord | null {
  return (row as unknown as StoredServerRecord | undefined) ?? null;
}
