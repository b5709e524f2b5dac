import type { ChangeFeed, ChangeTopic } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { createChangeListeners } from '../changeListeners.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models, TopicRevisionDoc } from './models.ts';

export interface MongoChanges extends ChangeFeed {
  stop(): void;
}

/**
 * One counter per topic, read by every process once per poll. Change streams would tell sooner, but exist only on
 * replica sets and are one more thing to resume after each election.
 */
export async function createMongoChanges(
  { topicRevisions }: Models,
  runner: CommandRunner,
  { clock, pollMs }: { clock: Clock; pollMs: number },
): Promise<MongoChanges> {
  const listeners = createChangeListeners();
  const readRevisions = async () => {
    const docs = await runner.run(() => topicRevisions.find({}).lean<TopicRevisionDoc[]>().exec());
    return new Map(docs.map((doc) => [doc._id, doc.revision]));
  };
  let syncedUntil = clock.now();
  const lastRevisions = await readRevisions();
  let stopped = false;

  const poll = async () => {
    try {
      const startedAt = clock.now();
      for (const [topic, revision] of await readRevisions()) {
        const lastRevision = lastRevisions.get(topic) ?? 0;
        // Our own publication may have been counted while this was being read.
        if (revision <= lastRevision) continue;
        lastRevisions.set(topic, revision);
        listeners.emit({ topic, id: '*' });
      }
      syncedUntil = startedAt;
    } catch {
      // A store that cannot be read now is read at the next poll; `/ready` tells the operator meanwhile.
    }
    if (!stopped) cancel = clock.timer(pollMs, () => void poll());
  };
  let cancel = clock.timer(pollMs, () => void poll());

  async function incrementRevision(topic: ChangeTopic): Promise<number> {
    const options = { upsert: true, returnDocument: 'after' } as const;
    const after = await runner.runUpsert(() =>
      topicRevisions
        .findOneAndUpdate({ _id: topic }, { $inc: { revision: 1 } }, options)
        .lean<TopicRevisionDoc>()
        .orFail()
        .exec(),
    );
    return after.revision;
  }

  return {
    async publish(change) {
      const revision = await incrementRevision(change.topic);
      // Only the next number is surely ours alone; with a gap, a foreign change lies between and the poll tells of it.
      if (revision === (lastRevisions.get(change.topic) ?? 0) + 1) lastRevisions.set(change.topic, revision);
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
