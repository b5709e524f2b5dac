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
  const dataVersion = () => Number(db.get('PRAGMA data_version')?.['data_version']);
  const revisions = () =>
    new Map(db.all('SELECT topic, revision FROM topicRevisions').map((r) => [r['topic'], r['revision']]));
  let seenData = dataVersion();
  let seen = revisions();
  let stopped = false;
  let checkedAt = clock.now();

  const poll = () => {
    if (stopped) return;
    try {
      const begun = clock.now();
      const version = dataVersion();
      if (version !== seenData) {
        const current = revisions();
        for (const [topic, revision] of current) {
          if (seen.get(topic) !== revision) listeners.emit({ topic: topic as ChangeTopic, id: '*' });
        }
        seen = current;
        seenData = version;
      }
      checkedAt = begun;
    } catch {
      // A database that cannot be read now is read at the next poll; `/ready` tells the operator meanwhile.
    }
    cancel = clock.timer(pollMs, poll);
  };
  let cancel = clock.timer(pollMs, poll);

  return {
    async publish(notice) {
      await db.write((tx) => {
        tx.run(
          `INSERT INTO topicRevisions (topic, revision) VALUES (?, 1)
            ON CONFLICT (topic) DO UPDATE SET revision = revision + 1`,
          notice.topic,
        );
      });
      // `seen` stays as it is: a foreign bump in between must not be swallowed. One notice too many is harmless.
      listeners.emit(notice);
    },
    subscribe: (listener) => listeners.subscribe(listener),
    syncedUntil: () => checkedAt,
    stop() {
      stopped = true;
      cancel();
    },
  };
}
