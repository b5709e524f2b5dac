import type { AttemptCounter, AttemptWindow, ChangeFeed, ChangeTopic } from '@behalf/gateway/ports';
import type { Clock, LeasePurpose, Leases, Random } from '@behalf/kernel';
import type { KeyvStoreAdapter } from 'keyv';
import { createChangeListeners } from '../changeListeners.ts';
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

/**
 * SQLite cannot notify another process. Each process polls `data_version`, which changes when another
 * connection commits, and only then reads the revisions. A poll costs microseconds, so it can be frequent: a
 * user may be waiting for a token that another process is fetching.
 */
export function createSqliteChanges(
  db: Sqlite,
  { clock, pollMs }: { clock: Clock; pollMs: number },
): ChangeFeed & { stop(): void } {
  const listeners = createChangeListeners();
  const readDataVersion = () => Number(db.get('PRAGMA data_version')?.['data_version']);
  const readRevisions = () =>
    new Map(db.all('SELECT topic, revision FROM topicRevisions').map((r) => [r['topic'], r['revision']]));
  let lastDataVersion = readDataVersion();
  let lastRevisions = readRevisions();
  let stopped = false;
  let syncedUntil = clock.now();

  const poll = () => {
    if (stopped) return;
    try {
      const startedAt = clock.now();
      const version = readDataVersion();
      if (version !== lastDataVersion) {
        const current = readRevisions();
        for (const [topic, revision] of current) {
          if (lastRevisions.get(topic) !== revision) listeners.emit({ topic: topic as ChangeTopic, id: '*' });
        }
        lastRevisions = current;
        lastDataVersion = version;
      }
      syncedUntil = startedAt;
    } catch {
      // If the read fails, the next poll reads again, and `/ready` reports the outage.
    }
    cancel = clock.timer(pollMs, poll);
  };
  let cancel = clock.timer(pollMs, poll);

  return {
    async publish(change) {
      await db.write((tx) => {
        tx.run(
          `INSERT INTO topicRevisions (topic, revision) VALUES (?, 1)
            ON CONFLICT (topic) DO UPDATE SET revision = revision + 1`,
          change.topic,
        );
      });
      // `seen` is not updated: a concurrent change of another process must be reported. A duplicate
      // notification is harmless.
      listeners.emit(change);
    },
    subscribe: (listener) => listeners.subscribe(listener),
    syncedUntil: () => syncedUntil,
    stop() {
      stopped = true;
      cancel();
    },
  };
}

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

/** Keyv adapter over the `cache` table, one per namespace. */
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
    // Errors are thrown, so there is nothing to emit.
    on: () => adapter,
  };
  return adapter as unknown as KeyvStoreAdapter;
}
