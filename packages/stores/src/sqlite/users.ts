import type { UserRecord, UserStore } from '@behalf/gateway/ports';
import { isUniqueViolation, type Sqlite, type Transaction } from './database.ts';

const INSERT = `INSERT INTO users (id, tenant, issuer, subject, email, name, role, passwordSealed, createdAt, updatedAt)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export function createSqliteUsers(db: Sqlite): UserStore {
  return {
    async insert(user) {
      try {
        await db.write((tx) => insertUser(tx, INSERT, user));
        return 'inserted';
      } catch (error) {
        if (isUniqueViolation(error)) return 'taken';
        throw error;
      }
    },
    insertFirst: (user) =>
      db.write((tx) => {
        if (tx.get('SELECT 1 FROM users LIMIT 1')) return 'not_first';
        insertUser(tx, INSERT, user);
        return 'inserted';
      }),
    findById: async (id) => asUser(db.get('SELECT * FROM users WHERE id = ?', id)),
    findByIdentity: async (tenant, issuer, subject) =>
      asUser(
        db.get(
          'SELECT * FROM users WHERE tenant = ? AND issuer = ? AND subject = ?',
          tenant,
          issuer,
          subject,
        ),
      ),
    setRole: async (id, role, at) =>
      (await db.write((tx) =>
        tx.run('UPDATE users SET role = ?, updatedAt = ? WHERE id = ?', role, at, id),
      )) > 0,
    count: async () => Number(db.get('SELECT count(*) AS n FROM users')?.['n']),
  };
}

function insertUser(tx: Transaction, sql: string, user: UserRecord): void {
  tx.run(
    sql,
    user.id,
    user.tenant,
    user.issuer,
    user.subject,
    user.email,
    user.name,
    user.role,
    user.passwordSealed,
    user.createdAt,
    user.updatedAt,
  );
}

function asUser(row: object | undefined): UserRecord | null {
  return (row as UserRecord | undefined) ?? null;
}
