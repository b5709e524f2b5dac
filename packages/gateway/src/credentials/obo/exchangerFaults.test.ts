import { describe, expect, test } from '@jest/globals';
import {
  aToken,
  exchangerRig,
  faultOf,
  HOUR_MS,
  passing,
  throttled,
  unavailable,
} from '../../../test/exchangerRig.ts';
import { createExchanger } from './createExchanger.ts';
import { ExchangeFault, type FaultCode, type FaultDetail } from './exchangeFault.ts';

const fault =
  (code: FaultCode, detail: FaultDetail = {}) =>
  () =>
    new ExchangeFault(code, detail);

describe('asking once more', () => {
  test('for what may pass, after a moment, exactly once', async () => {
    const { exchanger, idp, job, clock, recorded } = exchangerRig({ chances: [0.5] });
    idp.answers((_, nth) => {
      if (nth === 0) throw unavailable();
      return aToken(clock, `token-${nth}`);
    });
    const won = await passing(clock, exchanger.obtain(job()));
    expect(won).toMatchObject({ source: 'exchanged', requests: 2, token: { token: 'token-1' } });
    expect(idp.asked[1]!.at - idp.asked[0]!.at).toBe(200);
    idp.fails(unavailable);
    const lost = await passing(clock, faultOf(exchanger.obtain(job({ user: 'bob' }))));
    expect(lost).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(idp.requests).toBe(4);
    expect(recorded.map(({ outcome, requests }) => [outcome, requests])).toEqual([
      ['ok', 2],
      ['OBO_TEMPORARY', 2],
    ]);
  });

  test('not for a caller who has one request left, whatever it asks for', async () => {
    for (const [requests, made] of [
      [1, 1],
      [2, 2],
      [9, 2],
    ] as const) {
      const { exchanger, idp, job, clock } = exchangerRig();
      idp.fails(unavailable);
      await passing(clock, faultOf(exchanger.force(job({ requests }))));
      expect(idp.requests).toBe(made);
    }
  });

  test('not for a refusal', async () => {
    for (const code of [
      'OBO_REJECTED',
      'OBO_CONSENT_REQUIRED',
      'OBO_MISCONFIGURED',
      'OBO_EMPTY_RESPONSE',
    ] as const) {
      const { exchanger, idp, job } = exchangerRig();
      idp.fails(fault(code, { providerCode: 'AADSTS1', hint: 'Look there.' }));
      expect(await faultOf(exchanger.obtain(job()))).toMatchObject({ code });
      expect(idp.requests).toBe(1);
    }
    // Nor for a provider that breaks its word; what it threw may hold anything and is not logged.
    const { exchanger, idp, job, logged } = exchangerRig();
    idp.answers(() => {
      throw new TypeError('assertion=eyJplanted');
    });
    expect(await faultOf(exchanger.obtain(job()))).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(idp.requests).toBe(1);
    expect(logged).toEqual([['obo_provider_broken', { provider: 'login', reason: 'TypeError' }]]);
  });

  test('when it was asked to, up to five seconds; later is told the caller', async () => {
    const short = exchangerRig();
    short.idp.answers((_, nth) => {
      if (nth === 0) throw throttled(5_000);
      return aToken(short.clock, `token-${nth}`);
    });
    await passing(short.clock, short.exchanger.obtain(short.job()));
    expect(short.idp.asked.map(({ at }) => at - short.idp.asked[0]!.at)).toEqual([0, 5_000]);

    const long = exchangerRig();
    long.idp.fails(() => throttled(5_001));
    const told = await passing(long.clock, faultOf(long.exchanger.obtain(long.job())));
    expect(told).toMatchObject({ code: 'OBO_TEMPORARY', detail: { retryAfterMs: 5_001 } });
    expect(long.idp.requests).toBe(1);
  });

  test('a provider that hangs is given ten seconds, listening or not', async () => {
    const { exchanger, idp, job, clock } = exchangerRig();
    idp.answers(() => new Promise(() => undefined));
    const began = clock.now();
    const told = await passing(clock, faultOf(exchanger.obtain(job({ requests: 1 }))));
    expect(clock.now() - began).toBe(10_000);
    expect(told).toMatchObject({ code: 'OBO_TEMPORARY', detail: { isRetryable: true } });
    expect(idp.asked[0]!.signal.aborted).toBe(true);
    // Its answer, should it come after all, is nobody's.
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    expect(await passing(clock, exchanger.obtain(job()))).toMatchObject({ token: { token: 'token-1' } });
  });
});

describe('what is known to fail', () => {
  const lasting = [
    ['OBO_REJECTED', 30_000],
    ['OBO_CONSENT_REQUIRED', 300_000],
    ['OBO_MISCONFIGURED', 60_000],
  ] as const;

  test('is answered without asking, for its time, with all it said', async () => {
    for (const [code, ms] of lasting) {
      const { exchanger, idp, job, clock, recorded } = exchangerRig();
      const detail = { claims: '{"id_token":{}}', providerCode: 'AADSTS50076', hint: 'Look there.' };
      idp.fails(fault(code, detail));
      await faultOf(exchanger.obtain(job()));
      await clock.advance(ms - 1);
      for (const mode of ['obtain', 'force'] as const) {
        expect(await faultOf(exchanger[mode](job()))).toMatchObject({
          code,
          detail: { ...detail, isRetryable: false },
        });
      }
      expect(idp.requests).toBe(1);
      expect(recorded.map(({ requests, source: from }) => [requests, from])).toEqual([
        [1, 'exchanged'],
        [0, 'memory'],
        [0, 'memory'],
      ]);
      expect(recorded[2]).toMatchObject({ outcome: code, providerCode: 'AADSTS50076', hint: 'Look there.' });
      await clock.advance(1);
      idp.answers((_, nth) => aToken(clock, `token-${nth}`));
      expect(await exchanger.obtain(job())).toMatchObject({ source: 'exchanged' });
    }
  });

  test('of a user’s token says nothing of their next one, nor of others', async () => {
    for (const code of ['OBO_REJECTED', 'OBO_CONSENT_REQUIRED'] as const) {
      const { exchanger, idp, job, clock } = exchangerRig();
      idp.fails(fault(code));
      await faultOf(exchanger.obtain(job()));
      idp.answers((_, nth) => aToken(clock, `token-${nth}`));
      expect(await exchanger.obtain(job({ subjectToken: 'after-signing-in' }))).toMatchObject({
        requests: 1,
      });
      expect(await exchanger.obtain(job({ user: 'bob' }))).toMatchObject({ requests: 1 });
      expect(await exchanger.obtain(job({ server: 'mail' }))).toMatchObject({ requests: 1 });
      expect(await faultOf(exchanger.obtain(job()))).toMatchObject({ code });
    }
  });

  test('of a set-up counts for all its users and for no other set-up', async () => {
    const { exchanger, idp, job, clock } = exchangerRig();
    idp.fails(fault('OBO_MISCONFIGURED', { hint: 'The secret is over.' }));
    await faultOf(exchanger.obtain(job()));
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    const known = await faultOf(exchanger.obtain(job({ user: 'bob' })));
    expect(known).toMatchObject({ code: 'OBO_MISCONFIGURED', detail: { hint: 'The secret is over.' } });
    expect(idp.requests).toBe(1);
    // Who signs in elsewhere may bring tokens that do not fit: that stops nobody here.
    const { request, ...rest } = job({ user: 'carol' });
    const bearer = { ...request, subject: { ...request.subject, via: 'bearer' as const } };
    const fixed = { ...idp.provider, identity: { ...idp.provider.identity, credentialVersion: 'v2' } };
    for (const other of [
      job({ revision: 'r2' }),
      job({ server: 'mail' }),
      job({ tenant: 'other' }),
      job({ scopes: ['graph.read'] }),
      job({ provider: fixed, user: 'dan' }),
      { ...rest, request: bearer },
    ]) {
      expect(await exchanger.obtain(other)).toMatchObject({ requests: 1 });
    }
  });

  test('one user’s 429 is theirs, for as long as was asked', async () => {
    const { exchanger, idp, job, clock } = exchangerRig();
    idp.answers(({ request }, nth) => {
      if (request.subject.subject === 'ada' && nth < 3) throw throttled(nth === 0 ? 20_000 : undefined);
      return aToken(clock, `token-${nth}`);
    });
    await faultOf(exchanger.obtain(job()));
    expect(await exchanger.obtain(job({ user: 'bob' }))).toMatchObject({ requests: 1 });
    expect(await exchanger.obtain(job({ user: 'carol', server: 'mail' }))).toMatchObject({ requests: 1 });
    await clock.advance(15_000);
    // She is told what is left of it, not what it was.
    for (const mode of ['obtain', 'force'] as const) {
      expect(await faultOf(exchanger[mode](job()))).toMatchObject({
        code: 'OBO_TEMPORARY',
        detail: { retryAfterMs: 5_000 },
      });
    }
    expect(idp.requests).toBe(3);
    await clock.advance(5_000);
    expect(await exchanger.obtain(job())).toMatchObject({ requests: 1 });
    // Without a time: briefly.
    idp.fails(() => throttled());
    await passing(clock, faultOf(exchanger.obtain(job({ user: 'dan' }))));
    const then = idp.requests;
    expect(await faultOf(exchanger.obtain(job({ user: 'dan' })))).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(idp.requests).toBe(then);
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(job({ user: 'eve' }))).toMatchObject({ requests: 1 });
    await clock.advance(2_000);
    expect(await exchanger.obtain(job({ user: 'dan' }))).toMatchObject({ requests: 1 });
  });

  test('an answer without a token is not asked for by every call', async () => {
    const { exchanger, idp, job, clock } = exchangerRig();
    idp.fails(fault('OBO_EMPTY_RESPONSE', { status: 200, hint: 'Look there.' }));
    await faultOf(exchanger.obtain(job()));
    await clock.advance(1_999);
    for (const mode of ['obtain', 'force'] as const) {
      expect(await faultOf(exchanger[mode](job()))).toMatchObject({
        code: 'OBO_EMPTY_RESPONSE',
        detail: { hint: 'Look there.', retryAfterMs: 1 },
      });
    }
    expect(idp.requests).toBe(1);
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(job({ user: 'bob' }))).toMatchObject({ requests: 1 });
    await clock.advance(1);
    expect(await exchanger.obtain(job())).toMatchObject({ requests: 1 });
  });

  test('nobody is sent away for longer than an hour', async () => {
    const { exchanger, idp, job, clock } = exchangerRig();
    idp.fails(() => throttled(1_000 * HOUR_MS));
    await faultOf(exchanger.obtain(job({ subjectLivesMs: 10_000 * HOUR_MS })));
    await clock.advance(HOUR_MS);
    idp.answers((_, nth) => aToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(job())).toMatchObject({ requests: 1 });
  });
});

describe('what is told of an exchange', () => {
  test('how it ended, and whether less was granted; a recorder that throws stops nobody', async () => {
    const cases: [asked: string[], granted: string[] | undefined, missing: string][] = [
      [['a', 'b'], ['a', 'b', 'c'], ''],
      [['a', 'b'], ['a'], 'b'],
      [['a'], undefined, ''],
      [['a', 'b'], [], 'a b'],
      // With or without the resource, on either side.
      [['api://x/Notes.Read', 'offline_access', 'openid'], ['notes.read'], ''],
      [['Mail.Read'], ['https://graph.example/Mail.Read'], ''],
      [['api://x/Notes.Read', 'api://x/Notes.Write'], ['api://X/notes.read'], 'api://x/Notes.Write'],
      // Another resource's.
      [['files/read', 'mail/read'], ['files/read'], 'mail/read'],
      [['api://x/.default'], ['notes.read'], ''],
      [['api://x/profile'], [], 'api://x/profile'],
    ];
    for (const [asked, granted, missing] of cases) {
      const isLess = missing !== '';
      const { exchanger, idp, job, clock, recorded, logged } = exchangerRig();
      idp.answers(() => ({ ...aToken(clock, 'token'), scopes: granted }));
      await exchanger.obtain(job({ scopes: asked }));
      expect(recorded).toMatchObject([{ outcome: 'ok', hasMissingScopes: isLess }]);
      const fields = { server: expect.any(String), provider: 'login', missing };
      expect(logged).toEqual(isLess ? [['obo_scopes_narrower', fields]] : []);
    }
    const { parts, job } = exchangerRig();
    const record = () => {
      throw new Error('no room');
    };
    expect(await createExchanger({ ...parts, record }).obtain(job())).toMatchObject({ source: 'exchanged' });
  });
});
