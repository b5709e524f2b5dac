import type { Clock } from '@behalf/kernel';
import type { KeyvStoreAdapter } from 'keyv';
import type { Sqlite } from './database.ts';

/** Keyv's adapter over the `cache` table, one namespace each. */
export function createSqliteCacheAdapter(db: Sqlite, clock: Clock, namespace: string): KeyvStoreAdapter {
  const adapter = {
    opts: {},
    async get(key: string) {
      const row = db.get(
        'SELECT value FROM cache WHERE namespace = ? AND key = ? AND expiresAt > ?',
        namespace,
        key,
        clock.now(),
      );
      return row?.['value'] as string | undefined;
    },
    async set(key: string, value: string, ttl?: number) {
      await db.write((tx) => {
        const now = clock.now();
        tx.run('DELETE FROM cache WHERE expiresAt <= ?', now);
        tx.run(
          'INSERT OR REPLACE INTO cache (namespace, key, value, expiresAt) VALUES (?, ?, ?, ?)',
          namespace,
          key,
          value,
          ttl === undefined ? Number.MAX_SAFE_INTEGER : now + ttl,
        );
      });
    },
    delete: async (key: string) =>
      (await db.write((tx) =>
        tx.run(
          'DELETE FROM cache WHERE namespace = ? AND key = ? AND expiresAt > ?',
          namespace,
          key,
          clock.now(),
        ),
      )) > 0,
    clear: async () =>
      void (await db.write((tx) => tx.run('DELETE FROM cache WHERE namespace = ?', namespace))),
    // Failures are thrown; the adapter has nothing to emit.
    on: () => adapter,
  };
  return adapter as unknown as KeyvStoreAdapter;
}
