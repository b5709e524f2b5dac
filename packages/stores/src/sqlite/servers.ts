import type { DraftStore, OverrideStore, ServerStore, StoredServerName } from '@behalf/gateway/ports';
import { type Sqlite, isUniqueViolation } from './database.ts';
import { createTable, replaceIfVersion } from './table.ts';

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

const IS_AVAILABLE = 'tenant = ? AND id = ? AND userId = ? AND takenAt IS NULL AND expiresAt > ?';

export function createSqliteDrafts(db: Sqlite): DraftStore {
  const drafts = createTable('drafts');
  return {
    insert: (draft, maxPerUser) =>
      db.write((tx) => {
        const { tenant, userId, createdAt } = draft;
        const row = tx.get(
          'SELECT count(*) AS n FROM drafts WHERE tenant = ? AND userId = ? AND expiresAt > ?',
          tenant,
          userId,
          createdAt,
        );
        if (Number(row?.['n']) >= maxPerUser) return 'full';
        drafts.insert(tx, draft);
        return 'inserted';
      }),
    find: async (tenant, id) =>
      drafts.toRecord(db.get('SELECT * FROM drafts WHERE tenant = ? AND id = ?', tenant, id)),
    findById: async (id) => drafts.toRecord(db.get('SELECT * FROM drafts WHERE id = ?', id)),
    listByUser: async (tenant, userId) =>
      drafts.toRecords(
        db.all('SELECT * FROM drafts WHERE tenant = ? AND userId = ? ORDER BY id', tenant, userId),
      ),
    consume: async (tenant, id, userId, now) =>
      (await db.write((tx) =>
        tx.run(
          `UPDATE drafts SET takenAt = ?, expiresAt = ? WHERE ${IS_AVAILABLE}`,
          ...[now, now, tenant, id, userId, now],
        ),
      )) === 1,
    listExpired: async (expiredBy, limit) =>
      drafts.toRecords(
        db.all('SELECT * FROM drafts WHERE expiresAt <= ? ORDER BY id LIMIT ?', expiredBy, limit),
      ),
    remove: async (tenant, id) =>
      (await db.write((tx) => tx.run('DELETE FROM drafts WHERE tenant = ? AND id = ?', tenant, id))) > 0,
  };
}
