import type { ChangeFeed, ChangeTopic } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { createChangeListeners } from '../changeListeners.ts';
import type { Gate } from './gate.ts';
import type { Models, RevisionDoc } from './models.ts';

export interface MongoChanges extends ChangeFeed {
  stop(): void;
}

/**
 * One counter per topic, read by every process once per poll. Change streams would tell sooner, but exist only on
 * replica sets and are one more thing to resume after each election.
 */
export async function createMongoChanges(
  { topicRevisions }: Models,
  gate: Gate,
  { clock, pollMs }: { clock: Clock; pollMs: number },
): Promise<MongoChanges> {
  const listeners = createChangeListeners();
  const read = async () => {
    const docs = await gate.run(() => topicRevisions.find({}).lean<RevisionDoc[]>().exec());
    return new Map(docs.map((doc) => [doc._id, doc.revision]));
  };
  let checkedAt = clock.now();
  const seen = await read();
  let stopped = false;

  const poll = async () => {
    try {
      const begun = clock.now();
      for (const [topic, revision] of await read()) {
        const before = seen.get(topic) ?? 0;
        // Our own publication may have been counted while this was being read.
        if (revision <= before) continue;
        seen.set(topic, revision);
        listeners.emit({ topic, id: '*' });
      }
      checkedAt = begun;
    } catch {
      // A store that cannot be read now is read at the next poll; `/ready` tells the operator meanwhile.
    }
    if (!stopped) cancel = clock.timer(pollMs, () => void poll());
  };
  let cancel = clock.timer(pollMs, () => void poll());

  async function count(topic: ChangeTopic): Promise<number> {
    const options = { upsert: true, returnDocument: 'after' } as const;
    const after = await gate.runUpsert(() =>
      topicRevisions
        .findOneAndUpdate({ _id: topic }, { $inc: { revision: 1 } }, options)
        .lean<RevisionDoc>()
        .orFail()
        .exec(),
    );
    return after.revision;
  }

  return {
    async publish(notice) {
      const revision = await count(notice.topic);
      // Only the next number is surely ours alone; with a gap, a foreign change lies between and the poll tells of it.
      if (revision === (seen.get(notice.topic) ?? 0) + 1) seen.set(notice.topic, revision);
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
