import { describe, expect, test } from '@jest/globals';
import { exchangerRig, faultOf, passing, slowly, unavailable } from '../../../test/exchangerRig.ts';

describe('forgetting tokens', () => {
  test('only the very token that was refused, in memory and in the cache', async () => {
    const { exchangers, job, raw } = exchangerRig({ replicas: 2 });
    const { key } = job();
    const [one, two] = [exchangers[0]!, exchangers[1]!];
    await one.obtain(job());
    await one.evict(key, 'another');
    expect(one.peek(key)?.token).toBe('token-0');
    expect(await raw.get(key)).toBeDefined();
    await two.obtain(job());
    await one.force(job());
    // Refused late: a newer one has taken its place, here and for all.
    await one.evict(key, 'token-0');
    expect(one.peek(key)?.token).toBe('token-1');
    await two.evict(key, 'token-0');
    expect(two.peek(key)).toBeUndefined();
    expect(await two.obtain(job())).toMatchObject({ source: 'cache', token: { token: 'token-1' } });
    await two.evict(key, 'token-1');
    expect(await raw.get(key)).toBeUndefined();
  });

  test('one that is being read out of the cache meanwhile does not come back', async () => {
    let whileReading: (() => Promise<void>) | undefined;
    const { exchangers, idp, job } = exchangerRig({
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
    await exchangers[0]!.obtain(job());
    whileReading = () => exchangers[1]!.evict(job().key, 'token-0');
    expect(await exchangers[1]!.obtain(job())).toMatchObject({
      source: 'exchanged',
      token: { token: 'token-1' },
    });
    expect(idp.requests).toBe(2);
  });

  test('all of a user, or of a server, and nobody else’s', async () => {
    const { exchangers, job, raw } = exchangerRig({ replicas: 2 });
    const [one, two] = [exchangers[0]!, exchangers[1]!];
    const jobs = {
      adaNotes: job(),
      adaMail: job({ server: 'mail' }),
      bobNotes: job({ user: 'bob' }),
      otherAda: job({ tenant: 'other' }),
    };
    for (const each of Object.values(jobs)) {
      await one.obtain(each);
      await two.obtain(each);
    }
    const kept = async () =>
      Promise.all(
        Object.entries(jobs).map(async ([name, { key }]) => [
          name,
          one.peek(key) !== undefined,
          (await raw.get(key)) !== undefined,
        ]),
      );
    await one.evictPrincipal(job().holder.principal);
    expect(await kept()).toEqual([
      ['adaNotes', false, false],
      ['adaMail', false, false],
      ['bobNotes', true, true],
      ['otherAda', true, true],
    ]);
    // Another process forgets when it hears of it, and what it had written as well.
    expect(two.peek(jobs.adaMail.key)).toBeDefined();
    await two.evictPrincipal(job().holder.principal);
    expect(two.peek(jobs.adaMail.key)).toBeUndefined();
    await one.evictServer('default', 'notes');
    expect(await kept()).toMatchObject([{}, {}, ['bobNotes', false, false], ['otherAda', true, true]]);
  });

  for (const [what, id] of [
    ['a user', 'evictPrincipal'],
    ['a server', 'evictServer'],
  ] as const) {
    test(`what began before ${what} was forgotten is kept nowhere`, async () => {
      for (const mode of ['obtain', 'force'] as const) {
        const { exchanger, idp, job, clock, raw } = exchangerRig();
        const { holder, key } = job();
        const evict = () =>
          id === 'evictPrincipal'
            ? exchanger.evictPrincipal(holder.principal)
            : exchanger.evictServer('default', 'notes');
        idp.answers(slowly(clock, 200));
        const before = exchanger[mode](job());
        const untouched = exchanger.obtain(job({ user: 'bob', server: 'mail' }));
        await clock.advance(50);
        await evict();
        const after = exchanger[mode](job());
        const alongside = exchanger[mode](job());
        await clock.advance(150);
        // Who waited already is served; who came after it asks for themselves, together.
        expect(await before).toMatchObject({ token: { token: 'token-0' } });
        expect(exchanger.peek(key)).toBeUndefined();
        expect(await raw.get(key)).toBeUndefined();
        const late = exchanger[mode](job());
        expect(await passing(clock, after)).toMatchObject({ token: { token: 'token-2' } });
        expect(await late).toMatchObject({ token: { token: 'token-2' } });
        expect(await alongside).toMatchObject({ token: { token: 'token-2' } });
        expect(exchanger.peek(key)?.token).toBe('token-2');
        expect(await untouched).toMatchObject({ token: { token: 'token-1' } });
        expect(exchanger.peek(job({ user: 'bob', server: 'mail' }).key)?.token).toBe('token-1');
        expect(idp.requests).toBe(3);
      }
    });
  }

  test('nor when it is forgotten while it is written', async () => {
    let whileWriting: (() => Promise<void>) | undefined;
    const { exchanger, job, raw } = exchangerRig({
      cache: (inner) => ({
        ...inner,
        set: async (...value) => {
          // The removal comes first, as it may over two connections.
          await whileWriting?.();
          await inner.set(...value);
        },
      }),
    });
    const { holder, key } = job();
    for (const evict of [
      () => exchanger.evictPrincipal(holder.principal),
      () => exchanger.evictServer(holder.tenant, holder.serverId),
      () => exchanger.evict(key, exchanger.peek(key)?.token ?? ''),
    ]) {
      whileWriting = evict;
      await exchanger.obtain(job());
      expect(exchanger.peek(key)).toBeUndefined();
      expect(await raw.get(key)).toBeUndefined();
    }
  });

  test('nor when it is read out of the cache meanwhile', async () => {
    let whileReading = async (): Promise<void> => undefined;
    const { exchangers, job } = exchangerRig({
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
    await exchangers[0]!.obtain(job());
    whileReading = () => exchangers[1]!.evictPrincipal(job().holder.principal);
    expect(await exchangers[1]!.obtain(job())).toMatchObject({ token: { token: 'token-0' } });
    expect(exchangers[1]!.peek(job().key)).toBeUndefined();
  });
});

describe('closing', () => {
  test('what is under way ends, and nothing begins after it', async () => {
    const { exchangers, idp, job, clock, raw, store } = exchangerRig({ replicas: 2 });
    const [one, two] = [exchangers[0]!, exchangers[1]!];
    idp.answers(slowly(clock, 3_000));
    const underWay = one.obtain(job());
    await clock.advance(100);
    const waiting = faultOf(two.obtain(job()));
    const retrying = scripted();
    await clock.advance(100);
    let isClosed = false;
    const closing = Promise.all([one.close(), two.close(), retrying.close()]).then(() => (isClosed = true));
    expect(await waiting).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(await retrying.outcome).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(retrying.requests()).toBe(1);
    await clock.advance(1_000);
    expect(isClosed).toBe(false);
    expect(await passing(clock, underWay)).toMatchObject({ token: { token: 'token-0' } });
    await closing;
    // What it brought is there for the others, and its turn is over.
    expect(await raw.get(job().key)).toBeDefined();
    expect(await store.leases.findHolder(`obo:${job().key}`)).toBeNull();
    for (const call of [
      () => one.obtain(job()),
      () => one.force(job()),
      () => one.obtain(job({ user: 'bob' })),
    ]) {
      expect(await faultOf(call())).toMatchObject({ code: 'OBO_TEMPORARY' });
    }
    expect(idp.requests).toBe(1);
    await one.close();

    /** One that is between its two attempts. */
    function scripted() {
      const rig = exchangerRig();
      rig.idp.fails(unavailable);
      const outcome = faultOf(rig.exchanger.obtain(rig.job()));
      return { outcome, close: () => rig.exchanger.close(), requests: () => rig.idp.requests };
    }
  });

  test('not for ever, and it answers twice', async () => {
    const { exchanger, idp, job, clock } = exchangerRig({ limits: { attemptTimeoutMs: 10_000 } });
    idp.answers(() => new Promise(() => undefined));
    const hanging = faultOf(exchanger.obtain(job()));
    await clock.advance(0);
    const began = clock.now();
    const both = Promise.all([exchanger.close(), exchanger.close()]);
    await passing(clock, both);
    expect(clock.now() - began).toBeLessThanOrEqual(11_000);
    expect(await hanging).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(idp.requests).toBe(1);
  });
});
