import type { TicketStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';

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
