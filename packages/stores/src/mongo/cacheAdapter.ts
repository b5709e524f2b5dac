import type { KeyvStoreAdapter } from 'keyv';
import type { Gate } from './gate.ts';
import type { CacheDoc, Models } from './models.ts';
import { fromNow, isAhead, literal } from './storeTime.ts';

/** Without an end of its own an entry would never leave. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** Keyv's adapter over one collection for all namespaces. */
export function createMongoCacheAdapter({ cache }: Models, gate: Gate, namespace: string): KeyvStoreAdapter {
  // A tuple, not a concatenation: no namespace and key can be put together to another pair's name.
  const idOf = (key: string) => JSON.stringify([namespace, key]);
  const live = isAhead('$expiresAt');

  const adapter = {
    opts: {},
    async get(key: string) {
      const found = { _id: idOf(key), $expr: live };
      return (await gate.run(() => cache.findOne(found).lean<CacheDoc>().exec()))?.value;
    },
    async set(key: string, value: string, ttl = LONGEST_MS) {
      const entry = [
        { $set: { namespace: literal(namespace), value: literal(value), expiresAt: fromNow(ttl) } },
      ];
      await gate.runUpsert(() =>
        cache.updateOne({ _id: idOf(key) }, entry, { upsert: true, updatePipeline: true }).exec(),
      );
    },
    delete: async (key: string) =>
      (await gate.run(() => cache.deleteOne({ _id: idOf(key), $expr: live }).exec())).deletedCount === 1,
    async clear() {
      await gate.run(() => cache.deleteMany({ namespace }).exec());
    },
    // Failures are thrown; the adapter has nothing to emit.
    on: () => adapter,
  };
  return adapter as unknown as KeyvStoreAdapter;
}
