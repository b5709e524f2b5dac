import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { ChangeEvent, ChangeTopic } from '../ports/index.ts';
import { type ReplicatedCacheOptions, createReplicatedCache } from './replicatedCache.ts';

type Row = { readonly owner: string; readonly revision: number };

/** A store with one row per key, and a change feed that can fall out of sync. */
function createRig(options: Partial<ReplicatedCacheOptions<Row>> = {}) {
  const clock = createFakeClock();
  const listeners = new Set<(change: ChangeEvent) => void>();
  const state = { revision: 1, reads: 0, isDown: false, isSilent: false, syncedUntil: 0 };
  const waiting: (() => void)[] = [];
  let isHeld = false;
  const cache = createReplicatedCache<Row>({
    changes: {
      subscribe(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      syncedUntil: () => (state.syncedUntil = state.isSilent ? state.syncedUntil : clock.now()),
    },
    clock,
    maxEntries: 3,
    affectedBy: ({ topic, id }) =>
      topic === 'users' ? { where: ({ owner }) => owner === id } : id === '*' ? 'all' : { key: id },
    ...options,
  });
  async function load(key: string): Promise<Row> {
    state.reads += 1;
    const row = { owner: `owner of ${key}`, revision: state.revision };
    if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
    if (state.isDown) throw new Error('down');
    return row;
  }
  return {
    ...{ clock, cache, state, listeners, load },
    read: async (key: string) => cache.read(key, () => load(key)),
    publish: (id: string, topic: ChangeTopic = 'servers') =>
      listeners.forEach((listener) => listener({ topic, id })),
    hold: () => (isHeld = true),
    release: () => {
      isHeld = false;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

describe('reads', () => {
  test('a current value is returned synchronously, without a read', async () => {
    const { cache, read, state, clock } = createRig();
    const row = await read('a');
    await clock.advance(20_000);
    expect(cache.read('a', () => Promise.reject(new Error('unexpected read')))).toBe(row);
    expect(state.reads).toBe(1);
  });

  test('concurrent callers share one load', async () => {
    const { read, state } = createRig();
    const [first, second] = await Promise.all([read('a'), read('a')]);
    expect(first).toBe(second);
    expect(state.reads).toBe(1);
  });

  test('a caller does not join a load that started two seconds ago', async () => {
    const { read, state, clock, hold, release } = createRig();
    hold();
    const slow = read('a');
    await clock.advance(1_999);
    const joined = read('a');
    expect(state.reads).toBe(1);
    await clock.advance(1);
    const second = read('a');
    expect(state.reads).toBe(2);
    release();
    await Promise.all([slow, joined, second]);
  });

  test('a value is read again after two seconds if the feed is out of sync', async () => {
    const { read, state, clock } = createRig();
    await read('a');
    state.isSilent = true;
    await clock.advance(1_999);
    await read('a');
    expect(state.reads).toBe(1);
    await clock.advance(1);
    await read('a');
    expect(state.reads).toBe(2);
  });

  test('the least recently used entry is evicted when the cache is full', async () => {
    const { read, cache } = createRig();
    for (const key of ['a', 'b', 'c', 'a', 'd']) await read(key);
    expect(['a', 'b', 'c', 'd'].map((key) => cache.has(key))).toEqual([true, false, true, true]);
  });

  test('a value that is not usable is returned but not cached', async () => {
    const { read, cache } = createRig({ isUsable: ({ revision }) => revision > 1 });
    expect(await read('a')).toMatchObject({ revision: 1 });
    expect([cache.has('a'), cache.get('a')]).toEqual([false, undefined]);
  });

  test('reload reads even if the value is current, and the previous value is passed to it', async () => {
    const { cache, read, state } = createRig();
    const previous = await read('a');
    state.revision = 2;
    const loaded = await cache.reload('a', async (known) => {
      expect(known).toBe(previous);
      return { owner: 'x', revision: 2 };
    });
    expect(cache.get('a')).toBe(loaded);
  });
});

describe('invalidation', () => {
  test('a notice invalidates only its key, `*` invalidates every key', async () => {
    const { cache, read, publish } = createRig();
    await read('a');
    await read('b');
    publish('a');
    expect([cache.get('a'), cache.has('a'), cache.has('b')]).toEqual([undefined, false, true]);
    publish('*');
    expect(cache.has('b')).toBe(false);
  });

  test('a predicate invalidates the entries that match', async () => {
    const { cache, read, publish } = createRig();
    await read('a');
    await read('b');
    publish('owner of a', 'users');
    expect([cache.has('a'), cache.has('b')]).toEqual([false, true]);
  });

  test.each([
    ['a', 'servers'],
    ['*', 'servers'],
    ['owner of a', 'users'],
  ] as const)(
    'a notice about %s during a load: callers receive the value, later callers read again',
    async (id, topic) => {
      const { cache, read, state, publish, hold, release } = createRig();
      hold();
      const first = read('a');
      publish(id, topic);
      state.revision = 2;
      const second = read('a');
      release();
      expect((await first).revision).toBe(1);
      expect((await second).revision).toBe(2);
      expect(cache.get('a')?.revision).toBe(2);
      expect(state.reads).toBe(2);
    },
  );

  test('a load that started before a write does not overwrite what was written', async () => {
    const { cache, read, hold, release } = createRig();
    hold();
    const loading = read('a');
    const written = { owner: 'owner of a', revision: 7 };
    cache.set('a', written);
    release();
    await loading;
    expect(cache.get('a')).toBe(written);
  });

  test('a kept invalid value is known and serves as previous value, but is not returned', async () => {
    const { cache, read, publish } = createRig({ keepInvalidated: true, maxStaleMs: 30_000 });
    const row = await read('a');
    publish('a');
    expect([cache.has('a'), cache.get('a'), cache.getStale('a')]).toEqual([true, undefined, undefined]);
    const again = await cache.read('a', async (previous) => previous as Row);
    expect(again).toBe(row);
    expect(cache.get('a')).toBe(row);
  });

  test('after close the cache is empty, keeps nothing and listens to nothing', async () => {
    const { cache, read, listeners, hold, release } = createRig();
    await read('a');
    hold();
    const late = read('b');
    cache.close();
    release();
    await late;
    expect([cache.has('a'), cache.has('b'), listeners.size]).toEqual([false, false, 0]);
  });
});

describe('while the store is unreachable', () => {
  test('by default a read fails once the value is no longer current', async () => {
    const { read, state, clock } = createRig();
    await read('a');
    Object.assign(state, { isDown: true, isSilent: true });
    await clock.advance(2_000);
    await expect(read('a')).rejects.toThrow('down');
  });

  test('within the outage window the last value is returned, afterwards the read fails', async () => {
    const { cache, read, state, clock } = createRig({ maxStaleMs: 30_000 });
    const row = await read('a');
    Object.assign(state, { isDown: true, isSilent: true });
    cache.getStale('a');
    await clock.advance(29_999);
    expect([await read('a'), cache.get('a'), cache.getStale('a')]).toEqual([row, undefined, row]);
    await clock.advance(1);
    await expect(read('a')).rejects.toThrow('down');
  });

  test('reload fails even within the outage window', async () => {
    const { cache, read, state, load } = createRig({ maxStaleMs: 30_000 });
    const row = await read('a');
    Object.assign(state, { isDown: true, isSilent: true });
    await expect(cache.reload('a', () => load('a'))).rejects.toThrow('down');
    expect(cache.getStale('a')).toBe(row);
  });

  test('a cache whose reads need the store returns the last value only from getStale', async () => {
    const { cache, read, state, clock } = createRig({ maxStaleMs: 30_000, readsStale: false });
    const row = await read('a');
    Object.assign(state, { isDown: true, isSilent: true });
    await clock.advance(2_000);
    await expect(read('a')).rejects.toThrow('down');
    expect(cache.getStale('a')).toBe(row);
  });

  test('a value that a notice invalidated is not returned within the outage window', async () => {
    const { read, state, publish } = createRig({ maxStaleMs: 30_000, keepInvalidated: true });
    await read('a');
    Object.assign(state, { isDown: true, isSilent: true });
    publish('a');
    await expect(read('a')).rejects.toThrow('down');
  });

  test('a load that a notice invalidated does not fall back to the last value', async () => {
    const { read, state, publish, clock, hold, release } = createRig({ maxStaleMs: 30_000 });
    await read('a');
    Object.assign(state, { isDown: true, isSilent: true });
    await clock.advance(2_000);
    hold();
    const loading = read('a');
    publish('a');
    release();
    await expect(loading).rejects.toThrow('down');
  });
});
