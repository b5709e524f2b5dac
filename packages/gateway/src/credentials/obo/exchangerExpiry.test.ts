import { describe, expect, test } from '@jest/globals';
import {
  createExchangedToken,
  createExchangerRig,
  expectFault,
  HOUR_MS,
  advanceUntilSettled,
} from '../../../test/exchangerRig.ts';
import { ExchangeFault } from './exchangeProvider.ts';
import { createMemoryTier, toCachedToken } from './cache.ts';

describe('how long an exchanged token is used', () => {
  test('a minute less than its life, or a tenth of a short one', async () => {
    for (const [lifetimeMs, usableMs] of [
      [HOUR_MS, HOUR_MS - 60_000],
      [600_000, 540_000],
      [100_000, 90_000],
    ] as const) {
      const { exchangers, idp, createJob, clock } = createExchangerRig({ replicas: 2 });
      idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`, lifetimeMs));
      const { token } = await exchangers[0]!.obtain(createJob());
      await clock.advance(usableMs - 1);
      // A hit tells the end it was given, in memory and out of the cache.
      expect(await exchangers[0]!.obtain(createJob())).toEqual({ token, source: 'memory', requests: 0 });
      expect(await exchangers[1]!.obtain(createJob())).toEqual({ token, source: 'cache', requests: 0 });
      await clock.advance(1);
      expect(exchangers[0]!.peek(createJob().key)).toBeUndefined();
      expect(exchangers[1]!.peek(createJob().key)).toBeUndefined();
      expect(await exchangers[1]!.obtain(createJob())).toMatchObject({ source: 'exchanged' });
      expect(idp.requests).toBe(2);
    }
  });

  test('never beyond the end of the user’s own token', async () => {
    const { exchangers, idp, createJob, clock } = createExchangerRig({ replicas: 2 });
    const mine = createJob({ subjectLifetimeMs: 600_000 });
    await exchangers[0]!.obtain(mine);
    // A process that thinks better of it reads the same end out of the cache.
    await exchangers[1]!.obtain({ ...mine, request: createJob({ subjectLifetimeMs: HOUR_MS }).request });
    await clock.advance(599_999);
    for (const one of exchangers) expect(one.peek(mine.key)).toBeDefined();
    await clock.advance(1);
    for (const one of exchangers) expect(one.peek(mine.key)).toBeUndefined();
    const fault = await expectFault(exchangers[0]!.obtain(mine));
    expect(fault).toMatchObject({ code: 'OBO_REJECTED', kind: 'subject_rejected' });
    expect(idp.requests).toBe(1);
  });

  test('a process that thinks worse of it holds to that', async () => {
    const { exchangers, createJob, clock } = createExchangerRig({ replicas: 2 });
    await exchangers[0]!.obtain(createJob());
    const short = { ...createJob(), request: createJob({ subjectLifetimeMs: 60_000 }).request };
    expect(await exchangers[1]!.obtain(short)).toMatchObject({ source: 'cache' });
    await clock.advance(60_000);
    expect(exchangers[1]!.peek(short.key)).toBeUndefined();
    expect(await expectFault(exchangers[1]!.obtain(short))).toMatchObject({ code: 'OBO_REJECTED' });
  });

  test('an answer that comes after it is given to nobody', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.setResponse((_, nth) => {
      const token = createExchangedToken(clock, `token-${nth}`);
      return new Promise((resolve) => void clock.timer(5_000, () => resolve(token)));
    });
    const fault = await advanceUntilSettled(
      clock,
      expectFault(exchanger.obtain(createJob({ subjectLifetimeMs: 4_000 }))),
    );
    expect(fault).toMatchObject({ code: 'OBO_REJECTED' });
    expect(exchanger.peek(createJob().key)).toBeUndefined();
  });

  test('with less than five seconds left it is used once and not kept', async () => {
    for (const [lifetimeMs, subjectLifetimeMs] of [
      [5_554, HOUR_MS],
      [HOUR_MS, 4_999],
    ] as const) {
      const { exchangers, idp, createJob, clock, rawCache } = createExchangerRig({ replicas: 2 });
      idp.setResponse(async (_, nth) => {
        const token = createExchangedToken(clock, `token-${nth}`, lifetimeMs);
        await Promise.resolve();
        return token;
      });
      const calls = [1, 2, 3].map(() => exchangers[0]!.obtain(createJob({ subjectLifetimeMs })));
      expect(new Set((await Promise.all(calls)).map(({ token }) => token.token))).toEqual(
        new Set(['token-0']),
      );
      expect(exchangers[0]!.peek(createJob().key)).toBeUndefined();
      expect(await rawCache.get(createJob().key)).toBeUndefined();
      expect(await exchangers[1]!.obtain(createJob({ subjectLifetimeMs }))).toMatchObject({
        source: 'exchanged',
      });
      expect(idp.requests).toBe(2);
    }
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`, 5_600));
    await exchanger.obtain(createJob());
    expect(await exchanger.obtain(createJob())).toMatchObject({ source: 'memory' });
    // Forced, and too short to be kept: the one it was to replace is not kept either.
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`, 1_000));
    await exchanger.force(createJob());
    expect(exchanger.peek(createJob().key)).toBeUndefined();
  });

  test('what is no token is neither given out nor kept', async () => {
    for (const broken of [{ token: '' }, { expiresAt: Number.NaN }, { lifetimeMs: Infinity }]) {
      const { exchanger, idp, createJob, clock, rawCache } = createExchangerRig();
      idp.setResponse(() => ({ ...createExchangedToken(clock, 'token'), ...broken }));
      const fault = await expectFault(exchanger.obtain(createJob()));
      expect(fault).toBeInstanceOf(ExchangeFault);
      expect(fault).toMatchObject({ code: 'OBO_EMPTY_RESPONSE', kind: 'idp_unavailable' });
      expect(exchanger.peek(createJob().key)).toBeUndefined();
      expect(await rawCache.get(createJob().key)).toBeUndefined();
      expect(idp.requests).toBe(1);
    }
  });

  test('memory holds a bounded number, and none that is over', async () => {
    const { clock, createJob } = createExchangerRig();
    const memory = createMemoryTier(clock, { maxCachedTokens: 3, sweepIntervalMs: 60_000 });
    const put = (user: string, lifetimeMs = HOUR_MS) => {
      const { key, holder, request } = createJob({ user });
      memory.put(key, toCachedToken(createExchangedToken(clock, user, lifetimeMs), request.subject), holder);
      return key;
    };
    const [first, second] = [put('a'), put('b'), put('c')];
    expect(memory.get(first)).toBeDefined();
    put('d');
    // The one that was not used for longest.
    expect(memory.get(second)).toBeUndefined();
    expect(memory.get(first)).toBeDefined();
    expect(memory.size).toBe(3);
    put('e', 50_000);
    expect(memory.size).toBe(3);
    await clock.advance(60_000);
    expect(memory.size).toBe(2);
    await clock.advance(HOUR_MS);
    expect(memory.size).toBe(0);
    expect(memory.removeHolders(({ serverId }) => serverId === 'notes')).toEqual([]);
    memory.close();
  });
});
