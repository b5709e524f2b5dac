import type { ChangeFeed, ChangeTopic } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { createChangeListeners } from '../changeListeners.ts';
import type { Sqlite } from './database.ts';

/**
 * SQLite has no way to wake another process, so each looks once per poll at `data_version`, which moves when another
 * connection has committed; only then are the revisions read. A look costs microseconds, so it may be often: somebody may
 * be waiting for the token that another process is fetching.
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
      // A database that cannot be read now is read at the next poll; `/ready` tells the operator meanwhile.
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
      // `seen` stays as it is: a foreign bump in between must not be swallowed. One notice too many is harmless.
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
