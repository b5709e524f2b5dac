import { LightCancellation } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import {
  createExchangerRig,
  expectFault,
  advanceUntilSettled,
  respondSlowly,
  createUnavailableFault,
} from '../../../test/exchangerRig.ts';
import { createInFlightExchanges } from './exchangeFlight.ts';

describe('exchanges at the same time', () => {
  test('50 cold calls are one token request', async () => {
    const { exchanger, idp, createJob, clock, recorded } = createExchangerRig();
    idp.setResponse(respondSlowly(clock, 200));
    const all = await advanceUntilSettled(
      clock,
      Promise.all(Array.from({ length: 50 }, () => exchanger.obtain(createJob()))),
    );
    expect(idp.requests).toBe(1);
    expect(new Set(all.map(({ token }) => token.token))).toEqual(new Set(['token-0']));
    expect(all.every(({ source, requests }) => source === 'exchanged' && requests === 1)).toBe(true);
    // Audited once, however many waited.
    expect(recorded).toMatchObject([{ outcome: 'ok', requests: 1, source: 'exchanged', durationMs: 200 }]);
    expect(await exchanger.obtain(createJob())).toMatchObject({ source: 'memory', requests: 0 });
    expect(idp.requests).toBe(1);
  });

  test('three processes with 50 cold calls each make one', async () => {
    const { exchangers, idp, createJob, clock, recorded } = createExchangerRig({ replicas: 3 });
    idp.setResponse(respondSlowly(clock, 300));
    const calls = exchangers.flatMap((one) => Array.from({ length: 50 }, () => one.obtain(createJob())));
    const all = await advanceUntilSettled(clock, Promise.all(calls));
    expect(idp.requests).toBe(1);
    expect(new Set(all.map(({ token }) => token.token))).toEqual(new Set(['token-0']));
    expect(recorded.map(({ source }) => source).sort()).toEqual(['cache', 'cache', 'exchanged']);
    for (const one of exchangers) expect(one.peek(createJob().key)).toMatchObject({ token: 'token-0' });
  });

  test('who comes to its turn looks again first', async () => {
    // The holder finishes between this one's look and its turn.
    const { exchangers, idp, createJob, clock } = createExchangerRig({
      replicas: 2,
      leases: (inner) => ({
        ...inner,
        acquire: async (key, purpose, ttlMs) => {
          if (turns++ === 0) await exchangers[1]!.obtain(createJob());
          return inner.acquire(key, purpose, ttlMs);
        },
      }),
    });
    let turns = 0;
    expect(await advanceUntilSettled(clock, exchangers[0]!.obtain(createJob()))).toMatchObject({
      source: 'cache',
      requests: 0,
    });
    expect(idp.requests).toBe(1);
  });

  test('100 users with 20 calls each make 100, each for their own', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.setResponse(async ({ request }, nth) => {
      const token = await respondSlowly(clock, 100, request.subject.subject)({} as never, nth);
      return token;
    });
    const users = Array.from({ length: 100 }, (_, i) => `user-${i}`);
    const calls = users.flatMap((user) => Array.from({ length: 20 }, () => ({ user })));
    const all = await advanceUntilSettled(
      clock,
      Promise.all(calls.map((one) => exchanger.obtain(createJob(one)))),
    );
    expect(idp.requests).toBe(100);
    all.forEach(({ token }, i) => expect(token.token).toMatch(new RegExp(`^${calls[i]!.user}-\\d+$`)));
  });

  test('who leaves is released alone', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.setResponse(respondSlowly(clock, 200));
    const leaving = new LightCancellation();
    const left = exchanger.obtain(createJob({ signal: leaving }));
    const stays = exchanger.obtain(createJob());
    await clock.advance(50);
    leaving.abort(new Error('had enough'));
    await expect(left).rejects.toThrow('had enough');
    expect(idp.providerRequests[0]!.signal.aborted).toBe(false);
    expect(await advanceUntilSettled(clock, stays)).toMatchObject({ token: { token: 'token-0' } });
    // Who has left before it came gets nothing and begins nothing.
    await expect(exchanger.obtain(createJob({ signal: leaving, user: 'bob' }))).rejects.toThrow('had enough');
    await expect(exchanger.obtain(createJob({ signal: leaving }))).rejects.toThrow('had enough');
    expect(idp.requests).toBe(1);
    const courses = createInFlightExchanges<string>();
    await expect(courses.join('cached', createJob({ signal: leaving }), async () => 'x')).rejects.toThrow(
      'had enough',
    );
    expect([...courses.all()]).toEqual([]);
  });

  test('nobody is left and it still ends, for who comes next', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.setResponse(respondSlowly(clock, 200));
    const leaving = new LightCancellation();
    const left = Promise.allSettled([1, 2, 3].map(() => exchanger.obtain(createJob({ signal: leaving }))));
    await clock.advance(50);
    leaving.abort(new Error('had enough'));
    expect((await left).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    const later = exchanger.obtain(createJob());
    expect(idp.providerRequests[0]!.signal.aborted).toBe(false);
    // It joined what was under way.
    expect(await advanceUntilSettled(clock, later)).toMatchObject({
      source: 'exchanged',
      token: { token: 'token-0' },
    });
    expect(idp.requests).toBe(1);
  });

  test('a failure is shared by who joined and by nobody later', async () => {
    const { exchanger, idp, createJob, clock, recorded } = createExchangerRig();
    idp.failWith(createUnavailableFault);
    const calls = Array.from({ length: 20 }, () => expectFault(exchanger.obtain(createJob({ requests: 1 }))));
    const faults = await advanceUntilSettled(clock, Promise.all(calls));
    expect(new Set(faults).size).toBe(1);
    expect(faults[0]).toMatchObject({ code: 'OBO_TEMPORARY', kind: 'idp_unavailable' });
    expect(idp.requests).toBe(1);
    expect(recorded).toHaveLength(1);
    idp.setResponse(respondSlowly(clock, 0));
    expect(await advanceUntilSettled(clock, exchanger.obtain(createJob()))).toMatchObject({
      source: 'exchanged',
    });
    expect(idp.requests).toBe(2);
  });

  test('a forced one is joined by forced ones alone and replaces', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.setResponse(respondSlowly(clock, 200));
    const cold = exchanger.obtain(createJob());
    await clock.advance(10);
    const forced = [exchanger.force(createJob()), exchanger.force(createJob())];
    await clock.advance(10);
    const joined = exchanger.obtain(createJob());
    const tokens = (await advanceUntilSettled(clock, Promise.all([cold, joined, ...forced]))).map(
      (one) => one.token.token,
    );
    expect(tokens).toEqual(['token-0', 'token-0', 'token-1', 'token-1']);
    expect(idp.requests).toBe(2);
    expect(exchanger.peek(createJob().key)?.token).toBe('token-1');
    // While one is forced, who takes a kept one has it at once.
    const again = exchanger.force(createJob());
    await clock.advance(10);
    expect(await exchanger.obtain(createJob())).toMatchObject({
      source: 'memory',
      token: { token: 'token-1' },
    });
    expect(await advanceUntilSettled(clock, again)).toMatchObject({
      source: 'exchanged',
      token: { token: 'token-2' },
    });
    expect(exchanger.peek(createJob().key)?.token).toBe('token-2');
  });

  test('it waits for no other process and is found by all', async () => {
    const { exchangers, idp, createJob, clock, store } = createExchangerRig({ replicas: 2 });
    await store.leases.acquire(`obo:${createJob().key}`, 'exchange', 60_000);
    const began = clock.now();
    await exchangers[0]!.force(createJob());
    expect(clock.now()).toBe(began);
    expect(await exchangers[1]!.obtain(createJob())).toMatchObject({
      source: 'cache',
      token: { token: 'token-0' },
    });
    expect(idp.requests).toBe(1);
  });

  test('one that was asked for earlier does not replace a later one', async () => {
    const { exchangers, idp, createJob, clock } = createExchangerRig({ replicas: 3 });
    idp.setResponse(respondSlowly(clock, 500, 'early'));
    const early = exchangers[0]!.force(createJob());
    await clock.advance(100);
    idp.setResponse(respondSlowly(clock, 100, 'late'));
    await advanceUntilSettled(clock, exchangers[1]!.force(createJob()));
    expect(await advanceUntilSettled(clock, early)).toMatchObject({ token: { token: 'early-0' } });
    expect(await exchangers[2]!.obtain(createJob())).toMatchObject({
      source: 'cache',
      token: { token: 'late-1' },
    });
    // In one process as well.
    idp.setResponse(respondSlowly(clock, 500, 'early'));
    const slow = exchangers[2]!.force(createJob({ user: 'bob' }));
    await clock.advance(100);
    idp.setResponse(respondSlowly(clock, 100, 'late'));
    await advanceUntilSettled(clock, exchangers[2]!.obtain(createJob({ user: 'bob' })));
    await advanceUntilSettled(clock, slow);
    expect(exchangers[2]!.peek(createJob({ user: 'bob' }).key)?.token).toBe('late-3');
  });
});
