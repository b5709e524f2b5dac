import { describe, expect, test } from '@jest/globals';
import {
  createExchangerRig,
  expectFault,
  advanceUntilSettled,
  respondSlowly,
  createUnavailableFault,
} from '../../../test/exchangerRig.ts';

describe('forgetting tokens', () => {
  test('only the very token that was refused, in memory and in the cache', async () => {
    const { exchangers, createJob, rawCache } = createExchangerRig({ replicas: 2 });
    const { key } = createJob();
    const [one, two] = [exchangers[0]!, exchangers[1]!];
    await one.obtain(createJob());
    await one.evict(key, 'another');
    expect(one.peek(key)?.token).toBe('token-0');
    expect(await rawCache.get(key)).toBeDefined();
    await two.obtain(createJob());
    await one.force(createJob());
    // Refused late: a newer one has taken its place, here and for all.
    await one.evict(key, 'token-0');
    expect(one.peek(key)?.token).toBe('token-1');
    await two.evict(key, 'token-0');
    expect(two.peek(key)).toBeUndefined();
    expect(await two.obtain(createJob())).toMatchObject({ source: 'cache', token: { token: 'token-1' } });
    await two.evict(key, 'token-1');
    expect(await rawCache.get(key)).toBeUndefined();
  });

  test('one that is being read out of the cache meanwhile does not come back', async () => {
    let whileReading: (() => Promise<void>) | undefined;
    const { exchangers, idp, createJob } = createExchangerRig({
      replicas: 2,
      cache: (inner) => ({
        ...inner,
        get: async (key) => {
          const value = await inner.get(key);
          const act = whileReading;
          whileReading = undefined;
          await act?.();
          return value;
        },
      }),
    });
    await exchangers[0]!.obtain(createJob());
    whileReading = () => exchangers[1]!.evict(createJob().key, 'token-0');
    expect(await exchangers[1]!.obtain(createJob())).toMatchObject({
      source: 'exchanged',
      token: { token: 'token-1' },
    });
    expect(idp.requests).toBe(2);
  });

  test('all of a user, or of a server, and nobody else’s', async () => {
    const { exchangers, createJob, rawCache } = createExchangerRig({ replicas: 2 });
    const [one, two] = [exchangers[0]!, exchangers[1]!];
    const jobs = {
      adaNotes: createJob(),
      adaMail: createJob({ server: 'mail' }),
      bobNotes: createJob({ user: 'bob' }),
      otherAda: createJob({ tenant: 'other' }),
    };
    for (const each of Object.values(jobs)) {
      await one.obtain(each);
      await two.obtain(each);
    }
    const readStored = async () =>
      Promise.all(
        Object.entries(jobs).map(async ([name, { key }]) => [
          name,
          one.peek(key) !== undefined,
          (await rawCache.get(key)) !== undefined,
        ]),
      );
    await one.evictPrincipal(createJob().holder.principal);
    expect(await readStored()).toEqual([
      ['adaNotes', false, false],
      ['adaMail', false, false],
      ['bobNotes', true, true],
      ['otherAda', true, true],
    ]);
    // Another process forgets when it hears of it, and what it had written as well.
    expect(two.peek(jobs.adaMail.key)).toBeDefined();
    await two.evictPrincipal(createJob().holder.principal);
    expect(two.peek(jobs.adaMail.key)).toBeUndefined();
    await one.evictServer('default', 'notes');
    expect(await readStored()).toMatchObject([{}, {}, ['bobNotes', false, false], ['otherAda', true, true]]);
  });

  for (const [what, id] of [
    ['a user', 'evictPrincipal'],
    ['a server', 'evictServer'],
  ] as const) {
    test(`what began before ${what} was forgotten is kept nowhere`, async () => {
      for (const mode of ['obtain', 'force'] as const) {
        const { exchanger, idp, createJob, clock, rawCache } = createExchangerRig();
        const { holder, key } = createJob();
        const evict = () =>
          id === 'evictPrincipal'
            ? exchanger.evictPrincipal(holder.principal)
            : exchanger.evictServer('default', 'notes');
        idp.setResponse(respondSlowly(clock, 200));
        const before = exchanger[mode](createJob());
        const untouched = exchanger.obtain(createJob({ user: 'bob', server: 'mail' }));
        await clock.advance(50);
        await evict();
        const after = exchanger[mode](createJob());
        const alongside = exchanger[mode](createJob());
        await clock.advance(150);
        // Who waited already is served; who came after it asks for themselves, together.
        expect(await before).toMatchObject({ token: { token: 'token-0' } });
        expect(exchanger.peek(key)).toBeUndefined();
        expect(await rawCache.get(key)).toBeUndefined();
        const late = exchanger[mode](createJob());
        expect(await advanceUntilSettled(clock, after)).toMatchObject({ token: { token: 'token-2' } });
        expect(await late).toMatchObject({ token: { token: 'token-2' } });
        expect(await alongside).toMatchObject({ token: { token: 'token-2' } });
        expect(exchanger.peek(key)?.token).toBe('token-2');
        expect(await untouched).toMatchObject({ token: { token: 'token-1' } });
        expect(exchanger.peek(createJob({ user: 'bob', server: 'mail' }).key)?.token).toBe('token-1');
        expect(idp.requests).toBe(3);
      }
    });
  }

  test('nor when it is forgotten while it is written', async () => {
    let whileWriting: (() => Promise<void>) | undefined;
    const { exchanger, createJob, rawCache } = createExchangerRig({
      cache: (inner) => ({
        ...inner,
        set: async (...value) => {
          // The removal comes first, as it may over two connections.
          await whileWriting?.();
          await inner.set(...value);
        },
      }),
    });
    const { holder, key } = createJob();
    for (const evict of [
      () => exchanger.evictPrincipal(holder.principal),
      () => exchanger.evictServer(holder.tenant, holder.serverId),
      () => exchanger.evict(key, exchanger.peek(key)?.token ?? ''),
    ]) {
      whileWriting = evict;
      await exchanger.obtain(createJob());
      expect(exchanger.peek(key)).toBeUndefined();
      expect(await rawCache.get(key)).toBeUndefined();
    }
  });

  test('nor when it is read out of the cache meanwhile', async () => {
    let whileReading = async (): Promise<void> => undefined;
    const { exchangers, createJob } = createExchangerRig({
      replicas: 2,
      cache: (inner) => ({
        ...inner,
        get: async (key) => {
          const value = await inner.get(key);
          await whileReading();
          return value;
        },
      }),
    });
    await exchangers[0]!.obtain(createJob());
    whileReading = () => exchangers[1]!.evictPrincipal(createJob().holder.principal);
    expect(await exchangers[1]!.obtain(createJob())).toMatchObject({ token: { token: 'token-0' } });
    expect(exchangers[1]!.peek(createJob().key)).toBeUndefined();
  });
});

describe('closing', () => {
  test('what is under way ends, and nothing begins after it', async () => {
    const { exchangers, idp, createJob, clock, rawCache, store } = createExchangerRig({ replicas: 2 });
    const [one, two] = [exchangers[0]!, exchangers[1]!];
    idp.setResponse(respondSlowly(clock, 3_000));
    const underWay = one.obtain(createJob());
    await clock.advance(100);
    const waiting = expectFault(two.obtain(createJob()));
    const retrying = scripted();
    await clock.advance(100);
    let isClosed = false;
    const closing = Promise.all([one.close(), two.close(), retrying.close()]).then(() => (isClosed = true));
    expect(await waiting).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(await retrying.outcome).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(retrying.requests()).toBe(1);
    await clock.advance(1_000);
    expect(isClosed).toBe(false);
    expect(await advanceUntilSettled(clock, underWay)).toMatchObject({ token: { token: 'token-0' } });
    await closing;
    // What it brought is there for the others, and its turn is over.
    expect(await rawCache.get(createJob().key)).toBeDefined();
    expect(await store.leases.findHolder(`obo:${createJob().key}`)).toBeNull();
    for (const call of [
      () => one.obtain(createJob()),
      () => one.force(createJob()),
      () => one.obtain(createJob({ user: 'bob' })),
    ]) {
      expect(await expectFault(call())).toMatchObject({ code: 'OBO_TEMPORARY' });
    }
    expect(idp.requests).toBe(1);
    await one.close();

    /** One that is between its two attempts. */
    function scripted() {
      const rig = createExchangerRig();
      rig.idp.failWith(createUnavailableFault);
      const outcome = expectFault(rig.exchanger.obtain(rig.createJob()));
      return { outcome, close: () => rig.exchanger.close(), requests: () => rig.idp.requests };
    }
  });

  test('not for ever, and it answers twice', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig({ limits: { attemptTimeoutMs: 10_000 } });
    idp.setResponse(() => new Promise(() => undefined));
    const hanging = expectFault(exchanger.obtain(createJob()));
    await clock.advance(0);
    const began = clock.now();
    const both = Promise.all([exchanger.close(), exchanger.close()]);
    await advanceUntilSettled(clock, both);
    expect(clock.now() - began).toBeLessThanOrEqual(11_000);
    expect(await hanging).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(idp.requests).toBe(1);
  });
});
