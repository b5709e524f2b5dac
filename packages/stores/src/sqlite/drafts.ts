import type { DraftStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

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
