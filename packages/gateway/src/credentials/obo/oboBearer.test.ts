import { describe, expect, test } from '@jest/globals';
import {
  createSubject,
  createExchange,
  adaPrincipal,
  createClaimsChallenge,
  createOboTokensRig,
  exchangeProvider,
} from '../../../test/oboRig.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { ReauthNeeded } from '../signInRequired.ts';
import { ExchangeFault } from './exchangeProvider.ts';
import { createTokenRequestBudget } from './bearer.ts';
import { SubjectUnavailable } from './subject.ts';

const forbidden = { code: 'MCP_OBO_FORBIDDEN' };
const misplaced = { code: 'obo_target', message: 'not there', suggestion: '', path: [] };

describe('one call’s way to its token', () => {
  test('a kept token is there at once', async () => {
    const rig = createOboTokensRig();
    expect(await rig.bearer().token()).toBe('token 1');
    // Not a promise: nothing is waited for.
    expect(rig.bearer().token()).toBe('token 1');
    expect(rig.jobs).toHaveLength(1);
    expect(rig.jobs[0]?.job).toMatchObject({
      request: { scopes: ['a', 'b'], claims: undefined },
      holder: { tenant: '*', principal: '["default","ada"]', serverId: 'server' },
      maxRequests: 2,
    });
  });

  test('who is not trusted gets none, and the provider is not asked', async () => {
    for (const isTrusted of [false, Promise.resolve(false)]) {
      const rig = createOboTokensRig();
      rig.isTrusted = isTrusted;
      await expect(rig.bearer().token()).rejects.toMatchObject(forbidden);
      expect({ jobs: rig.jobs, subject: rig.readCounts.subject }).toEqual({ jobs: [], subject: 0 });
    }
  });

  test('asked again for a kept token', async () => {
    const rig = createOboTokensRig();
    const bearer = rig.bearer();
    await bearer.token();
    rig.isTrusted = false;
    await expect(bearer.token()).rejects.toMatchObject(forbidden);
    rig.isTrusted = Promise.resolve(true);
    expect(await bearer.token()).toBe('token 1');
  });

  test('asked again when the provider has answered', async () => {
    const rig = createOboTokensRig();
    rig.exchange = async () => {
      rig.isTrusted = false;
      return createExchange('too late');
    };
    await expect(rig.bearer().token()).rejects.toMatchObject(forbidden);
  });

  test('an address that may not have it gets none, also of those kept', async () => {
    const rig = createOboTokensRig();
    const bearer = rig.bearer();
    await bearer.token();
    rig.problem = misplaced;
    await expect(bearer.token()).rejects.toMatchObject(forbidden);
    await expect(rig.bearer().token()).rejects.toMatchObject(forbidden);
    expect(rig.jobs).toHaveLength(1);
    rig.problem = null;
    rig.cachedTokens.clear();
    rig.exchange = async () => {
      rig.problem = misplaced;
      return createExchange('too late');
    };
    await expect(bearer.token()).rejects.toMatchObject(forbidden);
  });

  test('a server that is gone or another one by now gets none', async () => {
    const rig = createOboTokensRig();
    const bearer = rig.bearer();
    await bearer.token();
    rig.isCurrent = false;
    await expect(bearer.token()).rejects.toMatchObject(forbidden);
    rig.isCurrent = true;
    rig.cachedTokens.clear();
    rig.exchange = async () => {
      rig.isCurrent = false;
      return createExchange('too late');
    };
    await expect(bearer.token()).rejects.toMatchObject(forbidden);
  });

  test('who has nothing to exchange is told why', async () => {
    const cases = [
      [new SubjectUnavailable('absent'), 'absent', 'OBO_SUBJECT_TOKEN_MISSING', 'session'],
      [
        new SubjectUnavailable('expired_no_refresh'),
        'expired_no_refresh',
        'OBO_SUBJECT_TOKEN_EXPIRED',
        'session',
      ],
      [
        new SubjectUnavailable('expired_no_refresh', 'bearer'),
        'expired_no_refresh',
        'OBO_SUBJECT_TOKEN_EXPIRED',
        'bearer',
      ],
    ] as const;
    for (const [error, reason, code, via] of cases) {
      for (const subject of [() => Promise.reject(error), () => raise(error)]) {
        const rig = createOboTokensRig();
        rig.subject = subject;
        await expect(rig.bearer().token()).rejects.toMatchObject({ reason, detail: { code, via } });
        expect(rig.jobs).toEqual([]);
        expect(rig.refusals).toMatchObject([{ error, scopes: 'b a' }]);
      }
    }
    const rig = createOboTokensRig();
    rig.subject = () => raise(new GatewayError('API_KEY_SCOPE'));
    await expect(rig.bearer().token()).rejects.toMatchObject({ code: 'API_KEY_SCOPE' });
  });

  test('who signs out while the provider is asked gets nothing', async () => {
    const rig = createOboTokensRig();
    rig.exchange = async () => {
      rig.subject = () => Promise.reject(new SubjectUnavailable('absent'));
      return createExchange('too late');
    };
    await expect(rig.bearer().token()).rejects.toMatchObject({ reason: 'absent' });
  });

  test('another key of our client is another token', async () => {
    const rig = createOboTokensRig();
    let identity = exchangeProvider.identity;
    rig.found = {
      ...exchangeProvider,
      get identity() {
        return identity;
      },
    };
    expect(await rig.bearer().token()).toBe('token 1');
    identity = { ...identity, credentialVersion: '2' };
    expect(await rig.bearer().token()).toBe('token 2');
  });

  test('another sign-in, role or user is another token', async () => {
    const rig = createOboTokensRig();
    expect(await rig.bearer().token()).toBe('token 1');
    rig.subject = createSubject({ hash: 'another' });
    expect(await rig.bearer().token()).toBe('token 2');
    // Each against the one before it, which differs in nothing else.
    const others = [{ role: 'ADMIN' }, {}, { userId: 'bob' }, {}, { tenant: 'other' }];
    const seen: unknown[] = [];
    for (const other of others) seen.push(await rig.bearer({ ...adaPrincipal, ...other }).token());
    expect(seen).toEqual(['token 3', 'token 2', 'token 4', 'token 2', 'token 5']);
  });

  test('whose turn it is decides what is told', async () => {
    const said = { providerCode: 'AADSTS1', hint: 'planted words' };
    const cases = [
      [new ExchangeFault('OBO_REJECTED', said), { reason: 'rejected', detail: { code: 'OBO_REJECTED' } }],
      [
        new ExchangeFault('OBO_CONSENT_REQUIRED', { ...said, claims: '{"a":1}' }),
        { reason: 'interaction_required', detail: { code: 'OBO_CONSENT_REQUIRED', claims: '{"a":1}' } },
      ],
      [new ExchangeFault('OBO_MISCONFIGURED', said), { code: 'OBO_MISCONFIGURED' }],
      [new ExchangeFault('OBO_EMPTY_RESPONSE', said), { code: 'OBO_EMPTY_RESPONSE' }],
      [
        new ExchangeFault('OBO_TEMPORARY', { retryAfterMs: 7_000 }),
        { code: 'OBO_TEMPORARY', retryAfterMs: 7_000 },
      ],
    ] as const;
    for (const [fault, expected] of cases) {
      const rig = createOboTokensRig();
      rig.exchange = () => Promise.reject(fault);
      const error = await Promise.resolve(rig.bearer().token()).catch((thrown: unknown) => thrown as Error);
      expect(error).toMatchObject(expected);
      expect((error as Error).message + JSON.stringify(error)).not.toMatch(/AADSTS|planted/);
      // Who exchanges writes it down.
      expect(rig.refusals).toEqual([]);
    }
    const rig = createOboTokensRig();
    rig.found = undefined;
    await expect(rig.bearer().token()).rejects.toMatchObject({ code: 'OBO_MISCONFIGURED' });
  });
});

describe('a token that the server refused', () => {
  test('is forgotten and exchanged anew, once', async () => {
    const rig = createOboTokensRig();
    const bearer = rig.bearer();
    await bearer.token();
    expect(await bearer.renew(undefined)).toBe(true);
    expect(await bearer.token()).toBe('token 2');
    expect(rig.jobs.map(({ how }) => how)).toEqual(['obtain', 'obtain']);
    expect(rig.evicted.map(([, token]) => token)).toEqual(['token 1']);
    // Refused again: that one is no good either, and there is no third.
    expect(await bearer.renew(undefined)).toBe(false);
    expect(rig.evicted.map(([, token]) => token)).toEqual(['token 1', 'token 2']);
    expect(rig.jobs).toHaveLength(2);
    expect(bearer.hasRenewed()).toBe(true);
    expect(bearer.presentedTokens()).toEqual(['token 1', 'token 2']);
  });

  test('one that comes back all the same is not taken', async () => {
    const rig = createOboTokensRig();
    rig.exchange = async () => createExchange(rig.jobs.length < 3 ? 'the same' : 'another', 0);
    const bearer = rig.bearer();
    await bearer.token();
    expect(await bearer.renew(undefined)).toBe(true);
    expect(await bearer.token()).toBe('another');
    expect(rig.jobs.map(({ how }) => how)).toEqual(['obtain', 'obtain', 'force']);
  });

  test('calls that were refused with one token share the one in its place', async () => {
    const rig = createOboTokensRig();
    const bearers = Array.from({ length: 20 }, () => rig.bearer());
    for (const bearer of bearers) await bearer.token();
    for (const bearer of bearers) expect(await bearer.renew(undefined)).toBe(true);
    for (const bearer of bearers) expect(await bearer.token()).toBe('token 2');
    expect(rig.jobs).toHaveLength(2);
  });

  test('what cannot be exchanged anew is told as that', async () => {
    const rig = createOboTokensRig();
    const bearer = rig.bearer();
    await bearer.token();
    rig.exchange = () => Promise.reject(new ExchangeFault('OBO_TEMPORARY'));
    await expect(bearer.renew(undefined)).rejects.toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(await rig.bearer().renew(undefined)).toBe(false);
    // And a call whose exchange failed asks for no other.
    await expect(bearer.token()).rejects.toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(rig.jobs).toHaveLength(2);
  });

  test('retries and forced exchanges are paid from one purse', async () => {
    const rig = createOboTokensRig();
    const budget = createTokenRequestBudget();
    rig.exchange = async () => createExchange('after a retry', 2);
    const listing = rig.bearer(adaPrincipal, budget);
    await listing.token();
    const call = rig.bearer(adaPrincipal, budget);
    await call.token();
    expect(await call.renew(undefined)).toBe(false);
    expect(rig.jobs).toHaveLength(1);
    await expect(call.token()).rejects.toMatchObject({ code: 'OBO_TEMPORARY' });
    expect(rig.jobs).toHaveLength(1);
    // With one spent, the forced one may not be repeated.
    const other = createOboTokensRig();
    const bearer = other.bearer();
    await bearer.token();
    await bearer.renew(undefined);
    expect(other.jobs.map(({ job }) => job.maxRequests)).toEqual([2, 1]);
  });

  test('what the server wants proven goes into the next exchanges', async () => {
    const rig = createOboTokensRig();
    const bearer = rig.bearer();
    await bearer.token();
    expect(await bearer.renew(createClaimsChallenge({ access_token: { acrs: { value: 'c1' } } }))).toBe(true);
    const claims = '{"access_token":{"acrs":{"value":"c1"}}}';
    expect(rig.jobs[1]).toMatchObject({ job: { request: { claims } } });
    expect(rig.jobs[1]?.job.key).not.toBe(rig.jobs[0]?.job.key);
    // The next call starts with what this one learnt.
    expect(rig.bearer().token()).toBe('token 2');
    rig.subject = createSubject({ hash: 'signed in anew' });
    await rig.bearer().token();
    expect(rig.jobs[2]?.job.request.claims).toBeUndefined();
  });

  test('what no exchange can prove is left to the next sign-in', async () => {
    const rig = createOboTokensRig();
    const bearer = rig.bearer();
    await bearer.token();
    await bearer.renew(createClaimsChallenge({ access_token: { a: 1 } }));
    const refused = bearer.renew(createClaimsChallenge({ access_token: { a: 2 } }));
    await expect(refused).rejects.toMatchObject({
      reason: 'interaction_required',
      detail: { claims: '{"access_token":{"a":2}}' },
    });
    await expect(refused).rejects.toBeInstanceOf(ReauthNeeded);
    expect(rig.claims).toEqual([['["default","ada"]', '{"access_token":{"a":2}}']]);
    const rejectingRig = createOboTokensRig();
    rejectingRig.exchange = () =>
      Promise.reject(new ExchangeFault('OBO_CONSENT_REQUIRED', { claims: '{ "b": 1 }' }));
    await expect(rejectingRig.bearer().token()).rejects.toMatchObject({ reason: 'interaction_required' });
    expect(rejectingRig.claims).toEqual([['["default","ada"]', '{"b":1}']]);
  });

  test('whose token lacks it is who was exchanged for, not who came', async () => {
    // A token was brought, and it is the sign-in’s that is exchanged: another one to bring changes nothing.
    for (const via of ['session', 'bearer'] as const) {
      const rig = createOboTokensRig();
      rig.subject = createSubject({ via });
      const bearer = rig.bearer({ ...adaPrincipal, authentication: { via: 'bearer' } });
      await bearer.token();
      await bearer.renew(createClaimsChallenge({ access_token: { a: 1 } }));
      const refused = bearer.renew(createClaimsChallenge({ access_token: { a: 2 } }));
      await expect(refused).rejects.toMatchObject({ detail: { via } });
    }
  });

  test('what is no wish about the access token goes nowhere', async () => {
    const others = ['"x"', '{"id_token":{"a":1}}'].map((text) => Buffer.from(text).toString('base64'));
    for (const claims of ['%%%', 'W10=', ...others, 'A'.repeat(5_000)]) {
      const rig = createOboTokensRig();
      const bearer = rig.bearer();
      await bearer.token();
      await bearer.renew({ ...createClaimsChallenge({}), claims });
      expect(rig.jobs[1]?.job.request.claims).toBeUndefined();
    }
    const rig = createOboTokensRig();
    const bearer = rig.bearer();
    await bearer.token();
    await bearer.renew({ ...createClaimsChallenge({ access_token: { a: 1 } }), error: 'invalid_token' });
    expect(rig.jobs[1]?.job.request.claims).toBeUndefined();
  });
});

function raise(error: Error): never {
  throw error;
}
