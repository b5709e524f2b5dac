import { describe, expect, test } from '@jest/globals';
import {
  aToken,
  exchangerRig,
  faultOf,
  passing,
  scriptedProvider,
  slowly,
  throttled,
  unavailable,
} from '../../../test/exchangerRig.ts';
import { ExchangeFault } from './exchangeFault.ts';

type Rig = ReturnType<typeof exchangerRig>;

/** As many failed exchanges in a row, each of another user. */
async function failing({ exchanger, idp, job }: Rig, times: number, fault = unavailable): Promise<void> {
  idp.fails(fault);
  for (let i = 0; i < times; i += 1) {
    await faultOf(exchanger.obtain(job({ user: `failing-${i}`, requests: 1 })));
  }
}

describe('an endpoint that does not answer', () => {
  test('is left alone for five seconds, forced or not, and others are not', async () => {
    const rig = exchangerRig();
    const { exchanger, idp, job, clock, logged } = rig;
    await failing(rig, 4);
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    // One that succeeds, or is refused, shows that it lives.
    await exchanger.obtain(job());
    await failing(rig, 4);
    idp.fails(() => new ExchangeFault('OBO_REJECTED'));
    await faultOf(exchanger.obtain(job({ user: 'rejected' })));
    expect(logged).toEqual([]);
    await failing(rig, 5);
    expect(logged.at(-1)).toEqual([
      'obo_endpoint_paused',
      { endpoint: 'https://idp.example/token', ms: 5_000, reason: 'unavailable' },
    ]);
    const before = idp.requests;
    await clock.advance(2_000);
    for (const mode of ['obtain', 'force'] as const) {
      expect(await faultOf(exchanger[mode](job({ user: 'bob' })))).toMatchObject({
        code: 'OBO_TEMPORARY',
        detail: { retryAfterMs: 3_000 },
      });
    }
    expect(idp.requests).toBe(before);
    // What is kept is still good, and so is another endpoint.
    expect(await exchanger.obtain(job())).toMatchObject({ source: 'memory' });
    const other = scriptedProvider(clock, 'https://other.example/token');
    expect(await exchanger.obtain(job({ user: 'bob', provider: other.provider }))).toMatchObject({
      requests: 1,
    });
  });

  test('is tried by one at a time, for longer each time, until it answers', async () => {
    const rig = exchangerRig();
    const { exchanger, idp, job, clock } = rig;
    await failing(rig, 5);
    for (const ms of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      await clock.advance(ms - 1);
      const before = idp.requests;
      expect(await faultOf(exchanger.obtain(job()))).toMatchObject({ detail: { retryAfterMs: 1 } });
      await clock.advance(1);
      idp.answers(async () => {
        await new Promise<void>((resolve) => void clock.timer(100, resolve));
        throw unavailable();
      });
      const probe = faultOf(exchanger.obtain(job({ requests: 1 })));
      await clock.advance(0);
      expect(await faultOf(exchanger.force(job({ user: 'bob' })))).toMatchObject({ code: 'OBO_TEMPORARY' });
      await clock.advance(100);
      await probe;
      expect(idp.requests).toBe(before + 1);
    }
    await clock.advance(60_000);
    idp.answers(slowly(clock, 100));
    const probe = exchanger.obtain(job());
    await clock.advance(0);
    await faultOf(exchanger.force(job({ user: 'bob' })));
    await passing(clock, probe);
    expect(await passing(clock, exchanger.obtain(job({ user: 'bob' })))).toMatchObject({ requests: 1 });
    // And it begins from the beginning.
    await failing(rig, 4);
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(job({ user: 'carol' }))).toMatchObject({ requests: 1 });
  });

  test('a probe that fails of itself leaves the next one to try', async () => {
    const rig = exchangerRig();
    const { exchanger, idp, job, clock } = rig;
    await failing(rig, 5);
    await clock.advance(5_000);
    idp.answers(() => {
      throw new TypeError('broken');
    });
    await faultOf(exchanger.obtain(job()));
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(job())).toMatchObject({ requests: 1 });
  });

  test('a burst that fails together opens it once, for five seconds', async () => {
    const rig = exchangerRig();
    const { exchanger, idp, job, clock } = rig;
    idp.answers(async (_, nth) => {
      await new Promise<void>((resolve) => void clock.timer(100 * (nth + 1), resolve));
      throw unavailable();
    });
    // The fifth of them opens it, after half a second; the last fails after four.
    const users = Array.from({ length: 40 }, (_, i) => job({ user: `user-${i}`, requests: 1 }));
    await passing(clock, Promise.all(users.map((one) => faultOf(exchanger.obtain(one)))));
    expect(await faultOf(exchanger.obtain(job()))).toMatchObject({ detail: { retryAfterMs: 1_500 } });
  });

  test('when several users are throttled, for what was asked and no longer', async () => {
    const rig = exchangerRig();
    const { exchanger, idp, job, clock } = rig;
    await failing(rig, 2, () => throttled(30_000));
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    // Somebody is served: it is not us who are throttled.
    expect(await exchanger.obtain(job())).toMatchObject({ requests: 1 });
    idp.fails(() => throttled(30_000));
    await faultOf(exchanger.obtain(job({ user: 'dan' })));
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(job({ user: 'eve' }))).toMatchObject({ requests: 1 });
    await clock.advance(30_000);
    await failing(rig, 3, () => throttled(30_000));
    const before = idp.requests;
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    await clock.advance(29_999);
    expect(await faultOf(exchanger.obtain(job({ user: 'bob' })))).toMatchObject({
      detail: { retryAfterMs: 1 },
    });
    expect(idp.requests).toBe(before);
    await clock.advance(1);
    expect(await exchanger.obtain(job({ user: 'bob' }))).toMatchObject({ requests: 1 });
  });

  test('never by one user, nor by throttling without a time', async () => {
    const rig = exchangerRig();
    const { exchanger, idp, job, clock } = rig;
    idp.fails(() => throttled(1_000_000));
    for (const server of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await faultOf(exchanger.obtain(job({ server, requests: 1 })));
    }
    await failing(rig, 10, () => throttled());
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(job({ user: 'bob' }))).toMatchObject({ requests: 1 });
  });
});
