import type { ApiKeyStore, SessionStore, TicketStore, UserRecord, UserStore } from '@behalf/gateway/ports';
import { pickUserChanges } from '../writeRules.ts';
import { type Param, type Sqlite, isUniqueViolation } from './database.ts';
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

/**
 * GLOB pattern for values that contain the text, ignoring case. LIKE ignores the case of ASCII letters only, so
 * the pattern lists both forms of each letter. Pattern characters are enclosed in brackets.
 */
function caseInsensitiveGlob(text: string): string {
  const characters = Array.from(text).map((character) => {
    const caseForms = [...new Set([character, character.toLowerCase(), character.toUpperCase()])];
    // Skip case forms of several letters, such as SS for ß: a bracket expression matches one character.
    const singleCharacters = caseForms.filter((form) => Array.from(form).length === 1);
    return singleCharacters.length > 1 || '*?['.includes(character)
      ? `[${singleCharacters.join('')}]`
      : character;
  });
  return `*${characters.join('')}*`;
}

export function createSqliteSessions(db: Sqlite): SessionStore {
  const sessions = createTable('sessions');
  return {
    insert: (session) => db.write((tx) => sessions.insert(tx, session)),
    find: async (hash, now) =>
      sessions.toRecord(db.get('SELECT * FROM sessions WHERE hash = ? AND expiresAt > ?', hash, now)),
    filterActive: async (hashes, now) => {
      const placeholders = hashes.map(() => '?').join(', ');
      const sql = `SELECT hash FROM sessions WHERE hash IN (${placeholders}) AND expiresAt > ?`;
      return db.all(sql, ...hashes, now).map(({ hash }) => String(hash));
    },
    list: async (userId, now) =>
      sessions.toRecords(
        db.all(
          'SELECT * FROM sessions WHERE userId = ? AND expiresAt > ? ORDER BY createdAt, hash',
          userId,
          now,
        ),
      ),
    remove: async (hash) => (await db.write((tx) => tx.run('DELETE FROM sessions WHERE hash = ?', hash))) > 0,
    removeByUser: (userId) => db.write((tx) => tx.run('DELETE FROM sessions WHERE userId = ?', userId)),
    removeExpired: (now) => db.write((tx) => tx.run('DELETE FROM sessions WHERE expiresAt <= ?', now)),
  };
}

export function createSqliteApiKeys(db: Sqlite): ApiKeyStore {
  const apiKeys = createTable('apiKeys');
  return {
    insert: (key) => db.write((tx) => apiKeys.insert(tx, key)),
    findByHash: async (hash, now) =>
      apiKeys.toRecord(db.get('SELECT * FROM apiKeys WHERE hash = ? AND expiresAt > ?', hash, now)),
    filterActive: async (ids, now) => {
      const placeholders = ids.map(() => '?').join(', ');
      const sql = `SELECT id FROM apiKeys WHERE id IN (${placeholders}) AND expiresAt > ?`;
      return db.all(sql, ...ids, now).map(({ id }) => String(id));
    },
    list: async (userId) =>
      apiKeys.toRecords(db.all('SELECT * FROM apiKeys WHERE userId = ? ORDER BY createdAt, id', userId)),
    remove: (userId, id) =>
      db.write((tx) => {
        const key = apiKeys.toRecord(tx.get('SELECT * FROM apiKeys WHERE id = ? AND userId = ?', id, userId));
        if (key !== null) tx.run('DELETE FROM apiKeys WHERE id = ?', id);
        return key;
      }),
    removeByUser: (userId) => db.write((tx) => tx.run('DELETE FROM apiKeys WHERE userId = ?', userId)),
    removeExpired: (now) => db.write((tx) => tx.run('DELETE FROM apiKeys WHERE expiresAt <= ?', now)),
    touch: async (id, usedAt) =>
      void (await db.write((tx) =>
        tx.run(
          'UPDATE apiKeys SET lastUsedAt = ? WHERE id = ? AND coalesce(lastUsedAt, 0) < ?',
          usedAt,
          id,
          usedAt,
        ),
      )),
  };
}

const IS_OPEN = 'hash = ? AND kind = ? AND consumedAt IS NULL AND expiresAt > ?';

export function createSqliteTickets(db: Sqlite): TicketStore {
  return {
    async issue({ hash, kind, createdAt, expiresAt }) {
      await db.write((tx) => {
        tx.run('DELETE FROM tickets WHERE expiresAt <= ?', createdAt);
        tx.run(
          'INSERT INTO tickets (hash, kind, createdAt, expiresAt) VALUES (?, ?, ?, ?)',
          hash,
          kind,
          createdAt,
          expiresAt,
        );
      });
    },
    isConsumable: async (kind, hash, now) =>
      db.get(`SELECT 1 FROM tickets WHERE ${IS_OPEN}`, hash, kind, now) !== undefined,
    consume: async (kind, hash, now) =>
      (await db.write((tx) =>
        tx.run(`UPDATE tickets SET consumedAt = ? WHERE ${IS_OPEN}`, now, hash, kind, now),
      )) === 1,
    revokeAll: async (kind) =>
      void (await db.write((tx) => tx.run('DELETE FROM tickets WHERE kind = ?', kind))),
  };
}
