import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChangeFeed, ChangeEvent } from '@behalf/gateway/ports';
import { systemClock, systemRandom } from '@behalf/kernel';
import { describeWith, eventually, startRedisServer, type RedisServer } from '@behalf/testkit';
import { createMongoDouble } from '@behalf/testkit/mongo-double';
import { aUser } from '@behalf/testkit/suites';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mergeChangeFeeds, openCoordination, openPrimary } from './openStores.ts';

const parts = { clock: systemClock, random: systemRandom };
let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'behalf-open-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('opening the default stores', () => {
  test('SQLite in the data directory, which is made for its owner alone', async () => {
    const dataDir = join(root, 'deep', 'data');
    const old = process.umask(0);
    try {
      const primary = await openPrimary({ dataDir }, parts);
      expect(primary.kind).toBe('sqlite');
      expect(await openCoordination({ dataDir }, primary, parts)).toBe(primary);
      await primary.users.insert(aUser());
      await primary.close();
    } finally {
      process.umask(old);
    }
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    const again = await openPrimary({ dataDir }, parts);
    expect(await again.users.count()).toBe(1);
    await again.close();
  });
});

describe('opening MongoDB without Redis', () => {
  test('tokens that it could not take wait in the data directory, also for the next process', async () => {
    const double = await createMongoDouble();
    const target = { dataDir: join(root, 'data'), mongoUri: double.uri };
    try {
      const first = await openPrimary(target, parts);
      await first.pendingWrites.put('c1', 'v1.pair');
      await first.close();
      const second = await openPrimary(target, parts);
      const found = await second.pendingWrites.find('c1');
      await second.close();
      expect(found).toBe('v1.pair');
      expect(await readdir(join(root, 'data', 'pending-writes'))).toHaveLength(1);
    } finally {
      await double.close();
    }
  });
});

describe('a SQLite file that others could read', () => {
  test('is closed to them at the next start, with what SQLite keeps beside it', async () => {
    const file = join(root, 'behalf.db');
    const before = await openPrimary({ dataDir: root }, parts);
    await before.close();
    await chmod(file, 0o644);
    const after = await openPrimary({ dataDir: root }, parts);
    await after.users.insert(aUser());
    for (const name of await readdir(root)) {
      expect([name, (await stat(join(root, name))).mode & 0o077]).toEqual([name, 0]);
    }
    await after.close();
  });
});

/** A feed whose server can be taken away. */
function fakeFeed() {
  const listeners = new Set<(notice: ChangeEvent) => void>();
  const published: ChangeEvent[] = [];
  const feed: ChangeFeed & { away: boolean; listeners: typeof listeners; published: ChangeEvent[] } = {
    away: false,
    listeners,
    published,
    async publish(notice) {
      if (feed.away) throw new Error('away');
      published.push(notice);
      for (const listener of listeners) listener(notice);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    syncedUntil: () => 0,
  };
  return feed;
}

describe('notices over a lasting and a swift feed', () => {
  const notice = { topic: 'users', id: 'u1' } as const;

  test('go through both, and are heard from either', async () => {
    const [lasting, swift] = [fakeFeed(), fakeFeed()];
    const merged = mergeChangeFeeds(lasting, swift);
    const received: string[] = [];
    const leave = merged.subscribe(({ id }) => received.push(id));
    await merged.publish(notice);
    expect([lasting.published, swift.published]).toEqual([[notice], [notice]]);
    expect(received).toContain('u1');
    leave();
    expect(lasting.listeners.size + swift.listeners.size).toBe(0);
  });

  test('count as published when the lasting one has them, and only then', async () => {
    const [lasting, swift] = [fakeFeed(), fakeFeed()];
    const merged = mergeChangeFeeds(lasting, swift);
    swift.away = true;
    await merged.publish(notice);
    expect(lasting.published).toEqual([notice]);
    swift.away = false;
    lasting.away = true;
    await expect(merged.publish(notice)).rejects.toThrow('away');
    expect(swift.published).toEqual([]);
  });
});

describeWith('redis-server', 'SQLite with a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  test('Redis coordinates, SQLite keeps the records and every notice', async () => {
    const targets = { dataDir: root, redis: { uri: server.uri, prefix: 'open-test' } };
    const primary = await openPrimary(targets, parts);
    const coordination = await openCoordination(targets, primary, parts);
    expect([primary.kind, coordination.kind]).toEqual(['sqlite', 'redis']);
    expect(await coordination.leases.acquire('k', 'refresh', 60_000)).not.toBeNull();
    expect(await primary.leases.findHolder('k')).toBeNull();
    const received: string[] = [];
    primary.changes.subscribe(({ id }) => received.push(id));
    await coordination.changes.publish({ topic: 'users', id: 'u1' });
    await eventually('the primary store to have the notice', () => received.includes('u1'));
    await coordination.close();
    await primary.close();
  });
});
