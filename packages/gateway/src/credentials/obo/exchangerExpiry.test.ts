import { describe, expect, test } from '@jest/globals';
import { aToken, exchangerRig, faultOf, HOUR_MS, passing } from '../../../test/exchangerRig.ts';
import { ExchangeFault } from './exchangeFault.ts';
import { toCachedToken } from './cachedToken.ts';
import { createMemoryTier, serverGroup } from './memoryTier.ts';

describe('how long an exchanged token is used', () => {
  test('a minute less than its life, or a tenth of a short one', async () => {
    for (const [lifetimeMs, usableMs] of [
      [HOUR_MS, HOUR_MS - 60_000],
      [600_000, 540_000],
      [100_000, 90_000],
    ] as const) {
      const { exchangers, idp, job, clock } = exchangerRig({ replicas: 2 });
      idp.answers((_, nth) => aToken(clock, `token-${nth}`, lifetimeMs));
      const { token } = await exchangers[0]!.obtain(job());
      await clock.advance(usableMs - 1);
      // A hit tells the end it was given, in memory and out of the cache.
      expect(await exchangers[0]!.obtain(job())).toEqual({ token, source: 'memory', requests: 0 });
      expect(await exchangers[1]!.obtain(job())).toEqual({ token, source: 'cache', requests: 0 });
      await clock.advance(1);
      expect(exchangers[0]!.peek(job().key)).toBeUndefined();
      expect(exchangers[1]!.peek(job().key)).toBeUndefined();
      expect(await exchangers[1]!.obtain(job())).toMatchObject({ source: 'exchanged' });
      expect(idp.requests).toBe(2);
    }
  });

  test('never beyond the end of the user’s own token', async () => {
    const { exchangers, idp, job, clock } = exchangerRig({ replicas: 2 });
    const mine = job({ subjectLivesMs: 600_000 });
    await exchangers[0]!.obtain(mine);
    // A process that thinks better of it reads the same end out of the cache.
    await exchangers[1]!.obtain({ ...mine, request: job({ subjectLivesMs: HOUR_MS }).request });
    await clock.advance(599_999);
    for (const one of exchangers) expect(one.peek(mine.key)).toBeDefined();
    await clock.advance(1);
    for (const one of exchangers) expect(one.peek(mine.key)).toBeUndefined();
    const fault = await faultOf(exchangers[0]!.obtain(mine));
    expect(fault).toMatchObject({ code: 'OBO_REJECTED', kind: 'subject_rejected' });
    expect(idp.requests).toBe(1);
  });

  test('a process that thinks worse of it holds to that', async () => {
    const { exchangers, job, clock } = exchangerRig({ replicas: 2 });
    await exchangers[0]!.obtain(job());
    const short = { ...job(), request: job({ subjectLivesMs: 60_000 }).request };
    expect(await exchangers[1]!.obtain(short)).toMatchObject({ source: 'cache' });
    await clock.advance(60_000);
    expect(exchangers[1]!.peek(short.key)).toBeUndefined();
    expect(await faultOf(exchangers[1]!.obtain(short))).toMatchObject({ code: 'OBO_REJECTED' });
  });

  test('an answer that comes after it is given to nobody', async () => {
    const { exchanger, idp, job, clock } = exchangerRig();
    idp.answers((_, nth) => {
      const token = aToken(clock, `token-${nth}`);
      return new Promise((resolve) => void clock.timer(5_000, () => resolve(token)));
    });
    const fault = await passing(clock, faultOf(exchanger.obtain(job({ subjectLivesMs: 4_000 }))));
    expect(fault).toMatchObject({ code: 'OBO_REJECTED' });
    expect(exchanger.peek(job().key)).toBeUndefined();
  });

  test('with less than five seconds left it is used once and not kept', async () => {
    for (const [lifetimeMs, subjectLivesMs] of [
      [5_554, HOUR_MS],
      [HOUR_MS, 4_999],
    ] as const) {
      const { exchangers, idp, job, clock, raw } = exchangerRig({ replicas: 2 });
      idp.answers(async (_, nth) => {
        const token = aToken(clock, `token-${nth}`, lifetimeMs);
        await Promise.resolve();
        return token;
      });
      const calls = [1, 2, 3].map(() => exchangers[0]!.obtain(job({ subjectLivesMs })));
      expect(new Set((await Promise.all(calls)).map(({ token }) => token.token))).toEqual(
        new Set(['token-0']),
      );
      expect(exchangers[0]!.peek(job().key)).toBeUndefined();
      expect(await raw.get(job().key)).toBeUndefined();
      expect(await exchangers[1]!.obtain(job({ subjectLivesMs }))).toMatchObject({ source: 'exchanged' });
      expect(idp.requests).toBe(2);
    }
    const { exchanger, idp, job, clock } = exchangerRig();
    idp.answers((_, nth) => aToken(clock, `token-${nth}`, 5_600));
    await exchanger.obtain(job());
    expect(await exchanger.obtain(job())).toMatchObject({ source: 'memory' });
    // Forced, and too short to be kept: the one it was to replace is not kept either.
    idp.answers((_, nth) => aToken(clock, `token-${nth}`, 1_000));
    await exchanger.force(job());
    expect(exchanger.peek(job().key)).toBeUndefined();
  });

  test('what is no token is neither given out nor kept', async () => {
    for (const broken of [{ token: '' }, { expiresAt: Number.NaN }, { lifetimeMs: Infinity }]) {
      const { exchanger, idp, job, clock, raw } = exchangerRig();
      idp.answers(() => ({ ...aToken(clock, 'token'), ...broken }));
      const fault = await faultOf(exchanger.obtain(job()));
      expect(fault).toBeInstanceOf(ExchangeFault);
      expect(fault).toMatchObject({ code: 'OBO_EMPTY_RESPONSE', kind: 'idp_unavailable' });
      expect(exchanger.peek(job().key)).toBeUndefined();
      expect(await raw.get(job().key)).toBeUndefined();
      expect(idp.requests).toBe(1);
    }
  });

  test('memory holds a bounded number, and none that is over', async () => {
    const { clock, job } = exchangerRig();
    const memory = createMemoryTier(clock, { maxCachedTokens: 3, sweepIntervalMs: 60_000 });
    const put = (user: string, lifetimeMs = HOUR_MS) => {
      const { key, holder, request } = job({ user });
      memory.put(key, toCachedToken(aToken(clock, user, lifetimeMs), request.subject), holder);
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
    expect(memory.removeGroup(serverGroup('default', 'notes'))).toEqual([]);
    memory.close();
  });
});
