import { describe, expect, test } from '@jest/globals';
import {
  createExchangedToken,
  createExchangerRig,
  expectFault,
  HOUR_MS,
  advanceUntilSettled,
  createThrottledFault,
  createUnavailableFault,
} from '../../../test/exchangerRig.ts';
import { createExchanger } from './exchanger.ts';
import { ExchangeFault, type FaultCode, type FaultDetail } from './exchangeProvider.ts';

const fault =
  (code: FaultCode, detail: FaultDetail = {}) =>
  () =>
    new ExchangeFault(code, detail);

describe('asking once more', () => {
  test('for what may pass, after a moment, exactly once', async () => {
    const { exchanger, idp, createJob, clock, recorded } = createExchangerRig({ randomValues: [0.5] });
    idp.setResponse((_, nth) => {
      if (nth === 0) throw createUnavailableFault();
      return createExchangedToken(clock, `token-${nth}`);
    });
    const won = await advanceUntilSettled(clock, exchanger.obtain(createJob()));
    expect(won).toMatchObject({ source: 'exchanged', requests: 2, token: { token: 'token-1' } });
    expect(idp.providerRequests[1]!.at - idp.providerRequests[0]!.at).toBe(200);
    idp.failWith(createUnavailableFault);
    const lost = await advanceUntilSettled(clock, expectFault(exchanger.obtain(createJob({ user: 'bob' }))));
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
      const { exchanger, idp, createJob, clock } = createExchangerRig();
      idp.failWith(createUnavailableFault);
      await advanceUntilSettled(clock, expectFault(exchanger.force(createJob({ requests }))));
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
      const { exchanger, idp, createJob } = createExchangerRig();
      idp.failWith(fault(code, { providerCode: 'AADSTS1', hint: 'Look there.' }));
      expect(await expectFault(exchanger.obtain(createJob()))).toMatchObject({ code });
      expect(idp.requests).toBe(1);
    }
    // Nor for a provider that breaks its word; what it threw may hold anything and is not logged.
    const { exchanger, idp, createJob, logged } = createExchangerRig();
    idp.setResponse(() => {
      throw new TypeError('assertion=eyJplanted');
    });
    expect(await expectFault(exchanger.obtain(createJob()))).toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(idp.requests).toBe(1);
    expect(logged).toEqual([['obo_provider_failed', { provider: 'login', reason: 'TypeError' }]]);
  });

  test('when it was asked to, up to five seconds; later is told the caller', async () => {
    const short = createExchangerRig();
    short.idp.setResponse((_, nth) => {
      if (nth === 0) throw createThrottledFault(5_000);
      return createExchangedToken(short.clock, `token-${nth}`);
    });
    await advanceUntilSettled(short.clock, short.exchanger.obtain(short.createJob()));
    expect(short.idp.providerRequests.map(({ at }) => at - short.idp.providerRequests[0]!.at)).toEqual([
      0, 5_000,
    ]);

    const long = createExchangerRig();
    long.idp.failWith(() => createThrottledFault(5_001));
    const fault = await advanceUntilSettled(long.clock, expectFault(long.exchanger.obtain(long.createJob())));
    expect(fault).toMatchObject({ code: 'OBO_TEMPORARY', detail: { retryAfterMs: 5_001 } });
    expect(long.idp.requests).toBe(1);
  });

  test('a provider that hangs is given ten seconds, listening or not', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.setResponse(() => new Promise(() => undefined));
    const began = clock.now();
    const fault = await advanceUntilSettled(clock, expectFault(exchanger.obtain(createJob({ requests: 1 }))));
    expect(clock.now() - began).toBe(10_000);
    expect(fault).toMatchObject({ code: 'OBO_TEMPORARY', detail: { isRetryable: true } });
    expect(idp.providerRequests[0]!.signal.aborted).toBe(true);
    // Its answer, should it come after all, is nobody's.
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    expect(await advanceUntilSettled(clock, exchanger.obtain(createJob()))).toMatchObject({
      token: { token: 'token-1' },
    });
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
      const { exchanger, idp, createJob, clock, recorded } = createExchangerRig();
      const detail = { claims: '{"id_token":{}}', providerCode: 'AADSTS50076', hint: 'Look there.' };
      idp.failWith(fault(code, detail));
      await expectFault(exchanger.obtain(createJob()));
      await clock.advance(ms - 1);
      for (const mode of ['obtain', 'force'] as const) {
        expect(await expectFault(exchanger[mode](createJob()))).toMatchObject({
          code,
          detail: { ...detail, isRetryable: false },
        });
      }
      expect(idp.requests).toBe(1);
      expect(recorded.map(({ requests, source }) => [requests, source])).toEqual([
        [1, 'exchanged'],
        [0, 'memory'],
        [0, 'memory'],
      ]);
      expect(recorded[2]).toMatchObject({ outcome: code, providerCode: 'AADSTS50076', hint: 'Look there.' });
      await clock.advance(1);
      idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
      expect(await exchanger.obtain(createJob())).toMatchObject({ source: 'exchanged' });
    }
  });

  test('of a user’s token says nothing of their next one, nor of others', async () => {
    for (const code of ['OBO_REJECTED', 'OBO_CONSENT_REQUIRED'] as const) {
      const { exchanger, idp, createJob, clock } = createExchangerRig();
      idp.failWith(fault(code));
      await expectFault(exchanger.obtain(createJob()));
      idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
      expect(await exchanger.obtain(createJob({ subjectToken: 'after-signing-in' }))).toMatchObject({
        requests: 1,
      });
      expect(await exchanger.obtain(createJob({ user: 'bob' }))).toMatchObject({ requests: 1 });
      expect(await exchanger.obtain(createJob({ server: 'mail' }))).toMatchObject({ requests: 1 });
      expect(await expectFault(exchanger.obtain(createJob()))).toMatchObject({ code });
    }
  });

  test('of a set-up counts for all its users and for no other set-up', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.failWith(fault('OBO_MISCONFIGURED', { hint: 'The secret is over.' }));
    await expectFault(exchanger.obtain(createJob()));
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    const known = await expectFault(exchanger.obtain(createJob({ user: 'bob' })));
    expect(known).toMatchObject({ code: 'OBO_MISCONFIGURED', detail: { hint: 'The secret is over.' } });
    expect(idp.requests).toBe(1);
    // Who signs in elsewhere may bring tokens that do not fit: that stops nobody here.
    const { request, ...rest } = createJob({ user: 'carol' });
    const bearer = { ...request, subject: { ...request.subject, via: 'bearer' as const } };
    const fixed = { ...idp.provider, identity: { ...idp.provider.identity, credentialVersion: 'v2' } };
    for (const other of [
      createJob({ revision: 'r2' }),
      createJob({ server: 'mail' }),
      createJob({ tenant: 'other' }),
      createJob({ scopes: ['graph.read'] }),
      createJob({ provider: fixed, user: 'dan' }),
      { ...rest, request: bearer },
    ]) {
      expect(await exchanger.obtain(other)).toMatchObject({ requests: 1 });
    }
  });

  test('one user’s 429 is theirs, for as long as was asked', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.setResponse(({ request }, nth) => {
      if (request.subject.subject === 'ada' && nth < 3)
        throw createThrottledFault(nth === 0 ? 20_000 : undefined);
      return createExchangedToken(clock, `token-${nth}`);
    });
    await expectFault(exchanger.obtain(createJob()));
    expect(await exchanger.obtain(createJob({ user: 'bob' }))).toMatchObject({ requests: 1 });
    expect(await exchanger.obtain(createJob({ user: 'carol', server: 'mail' }))).toMatchObject({
      requests: 1,
    });
    await clock.advance(15_000);
    // She is told what is left of it, not what it was.
    for (const mode of ['obtain', 'force'] as const) {
      expect(await expectFault(exchanger[mode](createJob()))).toMatchObject({
        code: 'OBO_TEMPORARY',
        detail: { retryAfterMs: 5_000 },
      });
    }
    expect(idp.requests).toBe(3);
    await clock.advance(5_000);
    expect(await exchanger.obtain(createJob())).toMatchObject({ requests: 1 });
    // Without a time: briefly.
    idp.failWith(() => createThrottledFault());
    await advanceUntilSettled(clock, expectFault(exchanger.obtain(createJob({ user: 'dan' }))));
    const then = idp.requests;
    expect(await expectFault(exchanger.obtain(createJob({ user: 'dan' })))).toMatchObject({
      code: 'OBO_TEMPORARY',
    });
    expect(idp.requests).toBe(then);
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(createJob({ user: 'eve' }))).toMatchObject({ requests: 1 });
    await clock.advance(2_000);
    expect(await exchanger.obtain(createJob({ user: 'dan' }))).toMatchObject({ requests: 1 });
  });

  test('an answer without a token is not asked for by every call', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.failWith(fault('OBO_EMPTY_RESPONSE', { status: 200, hint: 'Look there.' }));
    await expectFault(exchanger.obtain(createJob()));
    await clock.advance(1_999);
    for (const mode of ['obtain', 'force'] as const) {
      expect(await expectFault(exchanger[mode](createJob()))).toMatchObject({
        code: 'OBO_EMPTY_RESPONSE',
        detail: { hint: 'Look there.', retryAfterMs: 1 },
      });
    }
    expect(idp.requests).toBe(1);
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(createJob({ user: 'bob' }))).toMatchObject({ requests: 1 });
    await clock.advance(1);
    expect(await exchanger.obtain(createJob())).toMatchObject({ requests: 1 });
  });

  test('nobody is sent away for longer than an hour', async () => {
    const { exchanger, idp, createJob, clock } = createExchangerRig();
    idp.failWith(() => createThrottledFault(1_000 * HOUR_MS));
    await expectFault(exchanger.obtain(createJob({ subjectLifetimeMs: 10_000 * HOUR_MS })));
    await clock.advance(HOUR_MS);
    idp.setResponse((_, nth) => createExchangedToken(clock, `token-${nth}`));
    expect(await exchanger.obtain(createJob())).toMatchObject({ requests: 1 });
  });
});

describe('what is told of an exchange', () => {
  test('how it ended, and whether less was granted; a recorder that throws stops nobody', async () => {
    const cases: [requested: string[], granted: string[] | undefined, missing: string][] = [
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
    for (const [requestedScopes, granted, missing] of cases) {
      const isLess = missing !== '';
      const { exchanger, idp, createJob, clock, recorded, logged } = createExchangerRig();
      idp.setResponse(() => ({ ...createExchangedToken(clock, 'token'), scopes: granted }));
      await exchanger.obtain(createJob({ scopes: requestedScopes }));
      expect(recorded).toMatchObject([{ outcome: 'ok', hasMissingScopes: isLess }]);
      const fields = { server: expect.any(String), provider: 'login', missing };
      expect(logged).toEqual(isLess ? [['obo_scopes_missing', fields]] : []);
    }
    const { parts, createJob } = createExchangerRig();
    const record = () => {
      throw new Error('no room');
    };
    expect(await createExchanger({ ...parts, record }).obtain(createJob())).toMatchObject({
      source: 'exchanged',
    });
  });
});
