import { createKeyring, systemRandom, type HeldLease, type Leases } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import {
  createExchangedToken,
  createExchangerRig,
  expectFault,
  advanceUntilSettled,
  respondSlowly,
  createUnavailableFault,
} from '../../../test/exchangerRig.ts';
import type { Cache } from '../../ports/index.ts';
import { createExchanger } from './exchanger.ts';

const never = <T>() => new Promise<T>(() => undefined);
const broken = (): Promise<never> => Promise.reject(new Error('the store is away'));

describe('the cache that processes share', () => {
  test('no token stands in it in clear, and none opens under another key', async () => {
    const { exchangers, idp, createJob, clock, rawCache, logged } = createExchangerRig({ replicas: 3 });
    const planted = 'eyJplanted.access.token';
    idp.setResponse(() => createExchangedToken(clock, planted));
    await exchangers[0]!.obtain(createJob());
    const sealed = await rawCache.get(createJob().key);
    for (const secret of [planted, 'subject-of-ada', Buffer.from(planted).toString('base64url')]) {
      expect(sealed).toEqual(expect.not.stringContaining(secret));
    }
    expect(sealed).toMatch(/^v1\./);
    // Copied to where another user's would be.
    const bob = createJob({ user: 'bob' });
    await rawCache.set(bob.key, sealed!, 60_000);
    idp.setResponse(() => createExchangedToken(clock, 'for-bob'));
    expect(await exchangers[1]!.obtain(bob)).toMatchObject({
      source: 'exchanged',
      token: { token: 'for-bob' },
    });
    expect(logged).toEqual([['obo_cache_unreadable', { reason: 'tampered' }]]);
    expect(await exchangers[2]!.obtain(bob)).toMatchObject({ source: 'cache', token: { token: 'for-bob' } });
  });

  test('what does not open is dropped, logged and exchanged anew', async () => {
    const { exchanger, parts, idp, createJob, rawCache, logged } = createExchangerRig();
    const { key } = createJob();
    await createExchanger(parts).obtain(createJob());
    const sealed = (await rawCache.get(key))!;
    const other = createKeyring([Buffer.alloc(32, 2)], systemRandom);
    const context = { tenant: '-', principal: '-', server: '-', kind: 'obo', field: 'token', binding: [key] };
    const values: [string, string][] = [
      [`${sealed.slice(0, -2)}AA`, 'tampered'],
      ['not an envelope', 'malformed'],
      [other.seal('{}', context), 'unknown_key'],
      ...['{}', 'null', '"text"', '{"usableUntil":1,"requestedAt":1}', 'eyJsecret'].map(
        (text): [string, string] => [parts.keyring.seal(text, context), 'malformed'],
      ),
    ];
    for (const [value, reason] of values) {
      await rawCache.set(key, value, 60_000);
      logged.length = 0;
      const before = idp.requests;
      expect(await createExchanger(parts).obtain(createJob())).toMatchObject({ source: 'exchanged' });
      expect(idp.requests).toBe(before + 1);
      expect(logged).toEqual([['obo_cache_unreadable', { reason }]]);
    }
    expect(await exchanger.obtain(createJob())).toMatchObject({ source: 'cache' });
  });

  test('one that fails or hangs costs a moment and no call', async () => {
    const outages: [string, Partial<Cache>, number][] = [
      ['throws', { get: broken, set: broken, delete: broken }, 0],
      [
        'throws at once',
        {
          get: () => {
            throw new Error('away');
          },
        },
        0,
      ],
      ['cannot be written', { set: broken }, 0],
      ['hangs', { get: never, set: never, delete: never }, 1_000],
      ['hangs when written', { set: never }, 1_000],
    ];
    for (const [, outage, ms] of outages) {
      const { exchanger, idp, createJob, clock, logged } = createExchangerRig({
        cache: (inner) => ({ ...inner, ...outage }),
      });
      const began = clock.now();
      const work = Promise.all([1, 2, 3].map(() => exchanger.obtain(createJob())));
      expect(await advanceUntilSettled(clock, work)).toHaveLength(3);
      expect(clock.now() - began).toBeLessThanOrEqual(ms + 25);
      expect(idp.requests).toBe(1);
      // It is left alone for a while: the next one does not wait as well.
      const then = clock.now();
      await advanceUntilSettled(clock, exchanger.obtain(createJob({ user: 'bob' })));
      expect(clock.now() - then).toBeLessThanOrEqual(25);
      expect(await exchanger.obtain(createJob())).toMatchObject({ source: 'memory' });
      await advanceUntilSettled(clock, exchanger.evict(createJob().key, 'token-0'));
      await advanceUntilSettled(clock, exchanger.evictPrincipal(createJob({ user: 'bob' }).holder.principal));
      expect(exchanger.peek(createJob().key)).toBeUndefined();
      expect(exchanger.peek(createJob({ user: 'bob' }).key)).toBeUndefined();
      expect(logged.every(([event]) => event === 'obo_cache_failed')).toBe(true);
    }
  });

  test('it is used again when it answers again', async () => {
    let isAway = true;
    const { exchangers, createJob, clock } = createExchangerRig({
      replicas: 2,
      cache: (inner) => ({ ...inner, get: (key) => (isAway ? broken() : inner.get(key)) }),
    });
    await exchangers[0]!.obtain(createJob());
    isAway = false;
    await clock.advance(2_000);
    await advanceUntilSettled(clock, exchangers[0]!.obtain(createJob({ user: 'bob' })));
    expect(await exchangers[1]!.obtain(createJob({ user: 'bob' }))).toMatchObject({ source: 'cache' });
  });
});

describe('turns between processes', () => {
  const withLeases = (acquire: Leases['acquire']) => (inner: Leases) => ({ ...inner, acquire });

  test('without leases they begin apart and look again: at most two', async () => {
    for (const acquire of [broken, never] as Leases['acquire'][]) {
      const { exchangers, idp, createJob, clock, logged } = createExchangerRig({
        replicas: 3,
        leases: withLeases(acquire),
        randomValues: [0.1, 0.2, 0.9],
      });
      idp.setResponse(respondSlowly(clock, 50));
      const calls = exchangers.flatMap((one) => Array.from({ length: 50 }, () => one.obtain(createJob())));
      expect(await advanceUntilSettled(clock, Promise.all(calls))).toHaveLength(150);
      expect(idp.requests).toBeLessThanOrEqual(2);
      expect(logged.map(([event]) => event)).toEqual(Array(3).fill('obo_lease_failed'));
    }
  });

  test('a lease that comes after it was waited for is given back', async () => {
    let give: (lease: HeldLease) => void = () => undefined;
    let released = 0;
    const { exchanger, createJob, clock } = createExchangerRig({
      leases: withLeases(() => new Promise((resolve) => (give = resolve))),
    });
    await advanceUntilSettled(clock, exchanger.obtain(createJob()));
    const lease = { key: '', owner: '', purpose: 'exchange', extend: broken } as const;
    give({ ...lease, release: async () => ((released += 1), true) });
    await clock.advance(0);
    expect(released).toBe(1);
  });

  test('a holder that does not end is waited for and not for ever', async () => {
    const { exchanger, idp, createJob, clock, store } = createExchangerRig();
    const held = await store.leases.acquire(`obo:${createJob().key}`, 'exchange', 60_000);
    const began = clock.now();
    const work = exchanger.obtain(createJob());
    await clock.advance(11_000);
    expect(idp.requests).toBe(0);
    expect(await advanceUntilSettled(clock, work)).toMatchObject({ source: 'exchanged', requests: 1 });
    expect(clock.now() - began).toBeGreaterThanOrEqual(12_000);
    expect(clock.now() - began).toBeLessThan(13_000);
    // The other's lease is its own.
    expect(await held!.release()).toBe(true);
  });

  test('a holder that is gone without a token is not waited for', async () => {
    const { exchangers, idp, createJob, clock } = createExchangerRig({ replicas: 2 });
    idp.setResponse(async (_, nth) => {
      await new Promise<void>((resolve) => void clock.timer(500, resolve));
      if (nth === 0) throw createUnavailableFault();
      return createExchangedToken(clock, `token-${nth}`);
    });
    const began = clock.now();
    const failing = expectFault(exchangers[0]!.obtain(createJob({ requests: 1 })));
    const waiting = exchangers[1]!.obtain(createJob());
    expect(await advanceUntilSettled(clock, failing)).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(await advanceUntilSettled(clock, waiting)).toMatchObject({
      source: 'exchanged',
      token: { token: 'token-1' },
    });
    expect(clock.now() - began).toBeLessThan(2_000);
    expect(idp.requests).toBe(2);
  });

  test('a turn ends with its exchange, whatever came of it', async () => {
    const { exchanger, idp, createJob, store } = createExchangerRig();
    const holder = () => store.leases.findHolder(`obo:${createJob().key}`);
    const held: unknown[] = [];
    idp.setResponse(async () => {
      held.push((await holder())?.purpose);
      throw createUnavailableFault();
    });
    await expectFault(exchanger.obtain(createJob({ requests: 1 })));
    expect(held).toEqual(['exchange']);
    expect(await holder()).toBeNull();
  });

  test('what is left for others is there before the turn ends', async () => {
    const { exchanger, rawCache, createJob } = createExchangerRig({
      leases: (inner) => ({
        ...inner,
        acquire: async (...args) => {
          const lease = await inner.acquire(...args);
          return (
            lease && { ...lease, release: async () => (seen.push(await rawCache.get(createJob().key)), true) }
          );
        },
      }),
    });
    const seen: unknown[] = [];
    await exchanger.obtain(createJob());
    expect(seen).toEqual([expect.stringMatching(/^v1\./)]);
  });
});
