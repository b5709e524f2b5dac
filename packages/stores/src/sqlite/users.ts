import type { UserRecord, UserStore } from '@behalf/gateway/ports';
import { pickUserChanges } from '../pickUserChanges.ts';
import { isUniqueViolation, type Param, type Sqlite } from './database.ts';
import { caseInsensitiveGlob } from './caseInsensitiveGlob.ts';
import { createTable } from './table.ts';

export function createSqliteUsers(db: Sqlite): UserStore {
  const users = createTable('users');
  return {
    async insert(user) {
      try {
        await db.write((tx) => users.insert(tx, user));
        return 'inserted';
      } catch (error) {
        if (isUniqueViolation(error)) return 'taken';
        throw error;
      }
    },
    insertFirst: (user) =>
      db.write((tx) => {
        if (tx.get('SELECT 1 FROM users LIMIT 1')) return 'not_first';
        users.insert(tx, user);
        return 'inserted';
      }),
    findById: async (id) => users.toRecord(db.get('SELECT * FROM users WHERE id = ?', id)),
    findMany: async (ids) =>
      users.toRecords(db.all(`SELECT * FROM users WHERE id IN (${ids.map(() => '?').join(', ')})`, ...ids)),
    findByIdentity: async (tenant, issuer, subject) =>
      users.toRecord(
        db.get(
          'SELECT * FROM users WHERE tenant = ? AND issuer = ? AND subject = ?',
          tenant,
          issuer,
          subject,
        ),
      ),
    async update(id, change, changedAt, { role, roleSource } = {}) {
      const conditions: [string, Param][] = [['id = ?', id]];
      if (role !== undefined) conditions.push(['role = ?', role]);
      if (roleSource !== undefined) conditions.push(['roleSource = ?', roleSource]);
      const where = conditions.map(([condition]) => condition).join(' AND ');
      const params = conditions.map(([, param]) => param);
      const fields = pickUserChanges(change, changedAt);
      return (await db.write((tx) => users.update(tx, fields, where, ...params))) > 0;
    },
    async list(tenant, { after, limit, search = '' }) {
      const pattern = caseInsensitiveGlob(search);
      return users.toRecords(
        db.all(
          `SELECT * FROM users WHERE tenant = ? AND id > ? AND (email GLOB ? OR name GLOB ?)
            ORDER BY id LIMIT ?`,
          tenant,
          after ?? '',
          pattern,
          pattern,
          limit,
        ),
      );
    },
    countWithRole: async (tenant, role) =>
      Number(
        db.get(
          'SELECT count(*) AS n FROM users WHERE tenant = ? AND role = ? AND disabledAt IS NULL',
          tenant,
          role,
        )?.['n'],
      ),
    listSignedOutSince: async (since) =>
      db.all('SELECT id, tenant, signedOutAt FROM users WHERE signedOutAt >= ?', since) as unknown as Pick<
        UserRecord,
        'id' | 'tenant' | 'signedOutAt'
      >[],
    count: async () => Number(db.get('SELECT count(*) AS n FROM users')?.['n']),
  };
}
