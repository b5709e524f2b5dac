import { describe, expect, test } from '@jest/globals';
import {
  createExchangedToken,
  createExchangerRig,
  expectFault,
  advanceUntilSettled,
  createScriptedProvider,
  respondSlowly,
  createThrottledFault,
  createUnavailableFault,
} from '../../../test/exchangerRig.ts';
import { ExchangeFault } from './exchangeProvider.ts';

type Rig = ReturnType<typeof createExchangerRig>;

/** As many failed exchanges in a row, each of another user. */
async function failing(
  { exchanger, idp, createJob }: Rig,
  times: number,
  fault = createUnavailableFault,
): Promise<void> {
  idp.failWith(fault);
  for (let i = 0; i < times; i += 1) {
    await expectFault(exchanger.obtain(createJob({ user: `failing-${i}`, requests: 1 })));
  }
}

describe('an endpoint that does not answer', () => {
  test('is left alone for five seconds, forced or not, and others are not', async () => {
    const rig = createExchangerRig();
    const { exchanger, idp, createJob, clock, logged } = rig;
    await failing(rig, 4);
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    // One that succeeds, or is refused, shows that it lives.
    await exchanger.obtain(createJob());
    await failing(rig, 4);
    idp.failWith(() => new ExchangeFault('OBO_REJECTED'));
    await expectFault(exchanger.obtain(createJob({ user: 'rejected' })));
    expect(logged).toEqual([]);
    await failing(rig, 5);
    expect(logged.at(-1)).toEqual([
      'obo_endpoint_backoff',
      { endpoint: 'https://idp.example/token', ms: 5_000, reason: 'unavailable' },
    ]);
    const before = idp.requests;
    await clock.advance(2_000);
    for (const mode of ['obtain', 'force'] as const) {
      expect(await expectFault(exchanger[mode](createJob({ user: 'bob' })))).toMatchObject({
        code: 'OBO_TEMPORARY',
        detail: { retryAfterMs: 3_000 },
      });
    }
    expect(idp.requests).toBe(before);
    // What is kept is still good, and so is another endpoint.
    expect(await exchanger.obtain(createJob())).toMatchObject({ source: 'memory' });
    const other = createScriptedProvider(clock, 'https://other.example/token');
    expect(await exchanger.obtain(createJob({ user: 'bob', provider: other.provider }))).toMatchObject({
      requests: 1,
    });
  });

  test('is tried by one at a time, for longer each time, until it answers', async () => {
    const rig = createExchangerRig();
    const { exchanger, idp, createJob, clock } = rig;
    await failing(rig, 5);
    for (const ms of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      await clock.advance(ms - 1);
      const before = idp.requests;
      expect(await expectFault(exchanger.obtain(createJob()))).toMatchObject({ detail: { retryAfterMs: 1 } });
      await clock.advance(1);
      idp.setResponse(async () => {
        await new Promise<void>((resolve) => void clock.timer(100, resolve));
        throw createUnavailableFault();
      });
      const probe = expectFault(exchanger.obtain(createJob({ requests: 1 })));
      await clock.advance(0);
      expect(await expectFault(exchanger.force(createJob({ user: 'bob' })))).toMatchObject({
        code: 'OBO_TEMPORARY',
      });
      await clock.advance(100);
      await probe;
      expect(idp.requests).toBe(before + 1);
    }
    await clock.advance(60_000);
    idp.setResponse(respondSlowly(clock, 100));
    const probe = exchanger.obtain(createJob());
    await clock.advance(0);
    await expectFault(exchanger.force(createJob({ user: 'bob' })));
    await advanceUntilSettled(clock, probe);
    expect(await advanceUntilSettled(clock, exchanger.obtain(createJob({ user: 'bob' })))).toMatchObject({
      requests: 1,
    });
    // And it begins from the beginning.
    await failing(rig, 4);
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(createJob({ user: 'carol' }))).toMatchObject({ requests: 1 });
  });

  test('a probe that fails of itself leaves the next one to try', async () => {
    const rig = createExchangerRig();
    const { exchanger, idp, createJob, clock } = rig;
    await failing(rig, 5);
    await clock.advance(5_000);
    idp.setResponse(() => {
      throw new TypeError('broken');
    });
    await expectFault(exchanger.obtain(createJob()));
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(createJob())).toMatchObject({ requests: 1 });
  });

  test('a burst that fails together opens it once, for five seconds', async () => {
    const rig = createExchangerRig();
    const { exchanger, idp, createJob, clock } = rig;
    idp.setResponse(async (_, nth) => {
      await new Promise<void>((resolve) => void clock.timer(100 * (nth + 1), resolve));
      throw createUnavailableFault();
    });
    // The fifth of them opens it, after half a second; the last fails after four.
    const users = Array.from({ length: 40 }, (_, i) => createJob({ user: `user-${i}`, requests: 1 }));
    await advanceUntilSettled(clock, Promise.all(users.map((one) => expectFault(exchanger.obtain(one)))));
    expect(await expectFault(exchanger.obtain(createJob()))).toMatchObject({
      detail: { retryAfterMs: 1_500 },
    });
  });

  test('when several users are throttled, for what was asked and no longer', async () => {
    const rig = createExchangerRig();
    const { exchanger, idp, createJob, clock } = rig;
    await failing(rig, 2, () => createThrottledFault(30_000));
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    // Somebody is served: it is not us who are throttled.
    expect(await exchanger.obtain(createJob())).toMatchObject({ requests: 1 });
    idp.failWith(() => createThrottledFault(30_000));
    await expectFault(exchanger.obtain(createJob({ user: 'dan' })));
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(createJob({ user: 'eve' }))).toMatchObject({ requests: 1 });
    await clock.advance(30_000);
    await failing(rig, 3, () => createThrottledFault(30_000));
    const before = idp.requests;
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    await clock.advance(29_999);
    expect(await expectFault(exchanger.obtain(createJob({ user: 'bob' })))).toMatchObject({
      detail: { retryAfterMs: 1 },
    });
    expect(idp.requests).toBe(before);
    await clock.advance(1);
    expect(await exchanger.obtain(createJob({ user: 'bob' }))).toMatchObject({ requests: 1 });
  });

  test('never by one user, nor by throttling without a time', async () => {
    const rig = createExchangerRig();
    const { exchanger, idp, createJob, clock } = rig;
    idp.failWith(() => createThrottledFault(1_000_000));
    for (const server of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await expectFault(exchanger.obtain(createJob({ server, requests: 1 })));
    }
    await failing(rig, 10, () => createThrottledFault());
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(createJob({ user: 'bob' }))).toMatchObject({ requests: 1 });
  });
});
