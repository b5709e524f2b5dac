import { systemClock, systemRandom } from '@behalf/kernel';
import {
  createFakeClock,
  describeWith,
  eventually,
  startRedisServer,
  type RedisServer,
} from '@behalf/testkit';
import { coordinationSuites, processesSuite } from '@behalf/testkit/suites';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../errors.ts';
import { openRedisStore } from './openRedisStore.ts';

describeWith('redis-server', 'stores on a real Redis', () => {
  const parts = { clock: systemClock, random: systemRandom };
  let server: RedisServer;
  let prefixes = 0;
  let last = '';
  const newPrefix = () => (last = `behalf-test-${(prefixes += 1)}`);

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  const open = () => openRedisStore({ ...parts, uri: server.uri, prefix: newPrefix() });
  coordinationSuites('redis', open, () => openRedisStore({ ...parts, uri: server.uri, prefix: last }));
  processesSuite('redis', async () => ({ kind: 'redis', uri: server.uri, prefix: newPrefix() }), {
    primary: false,
  });

  test('two prefixes on one server never meet', async () => {
    const one = await open();
    const two = await open();
    expect(await one.leases.acquire('k', 'refresh', 60_000)).not.toBeNull();
    expect(await two.leases.acquire('k', 'refresh', 60_000)).not.toBeNull();
    await one.cache('c').set('k', '1', 60_000);
    expect(await two.cache('c').get('k')).toBeUndefined();
    await one.close();
    await two.close();
  });

  test('an outage is an error at once, and ends by itself', async () => {
    const own = await startRedisServer();
    const store = await openRedisStore({ ...parts, uri: own.uri, prefix: 'p' });
    const received: string[] = [];
    store.changes.subscribe(({ topic, id }) => received.push(`${topic} ${id}`));
    await own.stop();
    await eventually('the outage to be noticed', () =>
      store.ping().then(
        () => false,
        () => true,
      ),
    );
    await expect(store.leases.acquire('k', 'refresh', 1_000)).rejects.toBeInstanceOf(StoreUnavailableError);
    await expect(store.cache('c').get('k')).rejects.toBeInstanceOf(StoreUnavailableError);
    await expect(store.attempts.hit('k', 1_000)).rejects.toBeInstanceOf(StoreUnavailableError);
    await own.start();
    await eventually('the store to come back', () =>
      store.ping().then(
        () => true,
        () => false,
      ),
    );
    expect(await store.leases.acquire('k', 'refresh', 1_000)).not.toBeNull();
    await eventually('listeners to be told that notices may be missing', () => received.includes('users *'));
    await store.close();
    await store.close();
    await own.stop();
  });

  test('a server that holds the line and says nothing is an error in time, and closing does not wait for it', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
    await eventually('the connections of other tests to be gone', () => sockets() === 0);
    const clock = createFakeClock();
    const own = await startRedisServer();
    const store = await openRedisStore({ ...parts, clock, uri: own.uri, prefix: 'p' });
    const leaving = await openRedisStore({ ...parts, clock, uri: own.uri, prefix: 'p' });
    const lease = (await store.leases.acquire('held', 'refresh', 60_000))!;
    const askEverything = (): Promise<unknown>[] => [
      store.ping(),
      store.leases.acquire('k', 'refresh', 60_000),
      store.leases.findHolder('held'),
      lease.extend(60_000),
      store.attempts.hit('k', 60_000),
      store.attempts.clear('k'),
      store.changes.publish({ topic: 'users', id: 'u1' }),
      store.cache('c').get('k'),
      store.cache('c').set('k', 'v', 60_000),
      store.cache('c').delete('k'),
      store.cache('c').clear(),
    ];
    own.pause();
    try {
      const pending = leaving.ping().catch((error: unknown) => error);
      let closed = false;
      void leaving.close().then(() => (closed = true));
      const outcomes: unknown[] = [];
      const pendingReads = askEverything();
      for (const answer of pendingReads) {
        void answer.then(
          () => outcomes.push('answered'),
          (error: unknown) => outcomes.push(error),
        );
      }
      await clock.advance(499);
      expect(closed).toBe(false);
      await clock.advance(1);
      await eventually('the one that leaves to be gone', () => closed);
      expect(await pending).toBeInstanceOf(StoreUnavailableError);
      await clock.advance(1_499);
      expect(outcomes).toEqual([]);
      await clock.advance(1);
      await eventually('everybody to be told', () => outcomes.length === pendingReads.length);
      for (const outcome of outcomes) expect(outcome).toBeInstanceOf(StoreUnavailableError);
      await expect(leaving.ping()).rejects.toBeInstanceOf(StoreUnavailableError);
      // The two connections of the other store.
      await eventually('its connections to be hung up', () => sockets() === 2);
      own.resume();
      await Promise.all(askEverything());
      await store.close();
      await eventually('every connection to be hung up', () => sockets() === 0);
    } finally {
      await own.stop();
      await store.close();
    }
  });

  test('a server that never answers does not keep the process from starting', async () => {
    const own = await startRedisServer();
    await own.stop();
    const store = await openRedisStore({ ...parts, uri: own.uri, prefix: 'p' });
    await expect(store.ping()).rejects.toBeInstanceOf(StoreUnavailableError);
    await store.close();
  });
});
