import type { KeyvStoreAdapter } from 'keyv';
import type { CommandRunner } from './commandRunner.ts';
import type { CacheDoc, Models } from './models.ts';
import { fromNow, buildInFutureExpression, literal } from './storeTime.ts';

/** Without an end of its own an entry would never leave. */
const MAX_TTL_MS = 24 * 60 * 60 * 1000;

/** Keyv's adapter over one collection for all namespaces. */
export function createMongoCacheAdapter(
  { cache }: Models,
  runner: CommandRunner,
  namespace: string,
): KeyvStoreAdapter {
  // A tuple, not a concatenation: no namespace and key can be put together to another pair's name.
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
    // Failures are thrown; the adapter has nothing to emit.
    on: () => adapter,
  };
  return adapter as unknown as KeyvStoreAdapter;
}
