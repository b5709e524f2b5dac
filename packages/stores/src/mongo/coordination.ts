import type { AttemptCounter, ChangeFeed, ChangeTopic } from '@behalf/gateway/ports';
import type { Clock, HeldLease, LeasePurpose, Leases, Random } from '@behalf/kernel';
import type { KeyvStoreAdapter } from 'keyv';
import { createChangeListeners } from '../changeListeners.ts';
import type { CommandRunner } from './connection.ts';
import type { AttemptDoc, CacheDoc, LeaseDoc, Models, TopicRevisionDoc } from './models.ts';
import { buildInFutureExpression, fromNow, literal } from './storeTime.ts';

export function createMongoLeases({ leases }: Models, runner: CommandRunner, random: Random): Leases {
  const isActive = buildInFutureExpression('$expiresAt');
  const keepIfActive = (field: string, newValue: object) => ({ $cond: [isActive, field, newValue] });

  function createHeldLease(key: string, owner: string, purpose: LeasePurpose): HeldLease {
    const filter = { _id: key, owner, $expr: isActive };
    return {
      key,
      owner,
      purpose,
      async extend(ttlMs) {
        const update = [{ $set: { expiresAt: fromNow(ttlMs) } }];
        const result = await runner.run(() =>
          leases.updateOne(filter, update, { updatePipeline: true }).exec(),
        );
        return result.matchedCount === 1;
      },
      release: async () => (await runner.run(() => leases.deleteOne(filter).exec())).deletedCount === 1,
    };
  }

  return {
    async acquire(key, purpose, ttlMs) {
      const owner = random.id();
      // One command that keeps a live lease and takes any other. The returned owner shows the outcome.
      const update = [
        {
          $set: {
            owner: keepIfActive('$owner', literal(owner)),
            purpose: keepIfActive('$purpose', literal(purpose)),
            expiresAt: keepIfActive('$expiresAt', fromNow(ttlMs)),
          },
        },
      ];
      const after = await runner.runUpsert(() =>
        leases
          .findOneAndUpdate({ _id: key }, update, {
            upsert: true,
            returnDocument: 'after',
            updatePipeline: true,
          })
          .lean<LeaseDoc>()
          .orFail()
          .exec(),
      );
      return after.owner === owner ? createHeldLease(key, owner, purpose) : null;
    },
    async findHolder(key) {
      const lease = await runner.run(() =>
        leases.findOne({ _id: key, $expr: isActive }).lean<LeaseDoc>().exec(),
      );
      return lease && { owner: lease.owner, purpose: lease.purpose };
    },
  };
}

interface MongoChanges extends ChangeFeed {
  stop(): void;
}

/**
 * One counter per topic, which every process reads once per poll. Change streams are faster, but they require a
 * replica set and must be resumed after each election.
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
        // A publication of this process may have increased the counter during the read.
        if (revision <= lastRevision) continue;
        lastRevisions.set(topic, revision);
        listeners.emit({ topic, id: '*' });
      }
      syncedUntil = startedAt;
    } catch {
      // If the read fails, the next poll reads again, and `/ready` reports the outage.
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
      // Only the next number belongs to this publication. A gap means that another process published: the poll
      // reports that change.
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

export function createMongoAttempts({ attempts }: Models, runner: CommandRunner): AttemptCounter {
  const isActive = buildInFutureExpression('$resetAt');

  return {
    async hit(key, windowMs) {
      const update = [
        {
          $set: {
            count: { $cond: [isActive, { $add: ['$count', 1] }, 1] },
            resetAt: { $cond: [isActive, '$resetAt', fromNow(windowMs)] },
          },
        },
      ];
      const after = await runner.runUpsert(() =>
        attempts
          .findOneAndUpdate({ _id: key }, update, {
            upsert: true,
            returnDocument: 'after',
            updatePipeline: true,
          })
          .lean<AttemptDoc>()
          .orFail()
          .exec(),
      );
      return { count: after.count, resetAt: after.resetAt.getTime() };
    },
    async clear(key) {
      await runner.run(() => attempts.deleteOne({ _id: key }).exec());
    },
  };
}

/** Upper bound, because an entry without expiry would never be removed. */
const MAX_TTL_MS = 24 * 60 * 60 * 1000;

/** Keyv adapter over one collection for all namespaces. */
export function createMongoCacheAdapter(
  { cache }: Models,
  runner: CommandRunner,
  namespace: string,
): KeyvStoreAdapter {
  // A tuple instead of a concatenation: no pair of namespace and key can produce the name of another pair.
  const idOf = (key: string) => JSON.stringify([namespace, key]);
  const isActive = buildInFutureExpression('$expiresAt');

  const adapter = {
    opts: {},
    async get(key: string) {
      const filter = { _id: idOf(key), $expr: isActive };
      return (await runner.run(() => cache.findOne(filter).lean<CacheDoc>().exec()))?.value;
    },
    async set(key: string, value: string, ttl = MAX_TTL_MS) {
      const update = [
        { $set: { namespace: literal(namespace), value: literal(value), expiresAt: fromNow(ttl) } },
      ];
      await runner.runUpsert(() =>
        cache.updateOne({ _id: idOf(key) }, update, { upsert: true, updatePipeline: true }).exec(),
      );
    },
    delete: async (key: string) =>
      (await runner.run(() => cache.deleteOne({ _id: idOf(key), $expr: isActive }).exec())).deletedCount ===
      1,
    async clear() {
      await runner.run(() => cache.deleteMany({ namespace }).exec());
    },
    // Errors are thrown, so there is nothing to emit.
    on: () => adapter,
  };
  return adapter as unknown as KeyvStoreAdapter;
}
