import type { Clock, LeasePurpose, Leases, Random } from '@behalf/kernel';
import type { Sqlite } from './database.ts';

export function createSqliteLeases(db: Sqlite, { clock, random }: { clock: Clock; random: Random }): Leases {
  return {
    async acquire(key, purpose, ttlMs) {
      const owner = random.id();
      const changedRows = await db.write((tx) => {
        const now = clock.now();
        return tx.run(
          `INSERT INTO leases (key, owner, purpose, expiresAt) VALUES (?, ?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, purpose = excluded.purpose, expiresAt = excluded.expiresAt
            WHERE expiresAt <= ?`,
          key,
          owner,
          purpose,
          now + ttlMs,
          now,
        );
      });
      if (changedRows === 0) return null;
      return {
        key,
        owner,
        purpose,
        extend: async (ms) =>
          (await db.write((tx) => {
            const now = clock.now();
            return tx.run(
              'UPDATE leases SET expiresAt = ? WHERE key = ? AND owner = ? AND expiresAt > ?',
              now + ms,
              key,
              owner,
              now,
            );
          })) === 1,
        release: async () =>
          (await db.write((tx) =>
            tx.run(
              'DELETE FROM leases WHERE key = ? AND owner = ? AND expiresAt > ?',
              key,
              owner,
              clock.now(),
            ),
          )) === 1,
      };
    },
    async findHolder(key) {
      const row = db.get(
        'SELECT owner, purpose FROM leases WHERE key = ? AND expiresAt > ?',
        key,
        clock.now(),
      );
      return row ? (row as { owner: string; purpose: LeasePurpose }) : null;
    },
  };
}
