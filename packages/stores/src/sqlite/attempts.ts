import type { AttemptCounter, AttemptWindow } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { Sqlite } from './database.ts';

export function createSqliteAttempts(db: Sqlite, clock: Clock): AttemptCounter {
  return {
    hit: (key, windowMs) =>
      db.write((tx) => {
        const now = clock.now();
        tx.run('DELETE FROM attempts WHERE resetAt <= ?', now);
        tx.run(
          `INSERT INTO attempts (key, count, resetAt) VALUES (?, 1, ?)
            ON CONFLICT (key) DO UPDATE SET count = count + 1`,
          key,
          now + windowMs,
        );
        return tx.get('SELECT count, resetAt FROM attempts WHERE key = ?', key) as unknown as AttemptWindow;
      }),
    clear: async (key) => void (await db.write((tx) => tx.run('DELETE FROM attempts WHERE key = ?', key))),
  };
}
