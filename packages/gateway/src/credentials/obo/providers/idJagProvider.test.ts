import { HiddenText, type Cancellation } from '@behalf/kernel';
import type { ProviderSettings } from '@behalf/settings';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTokenReply, type TokenEndpointReply } from '../../../../test/tokenEndpoint.ts';
import {
  createExchangeResource,
  createExchangeRequest,
  createTokenEndpointRig,
  runExchange,
  expectExchangeFault,
  type TokenEndpointRig,
} from '../../../../test/tokenEndpointRig.ts';
import type { RefreshTokenUse } from '../../../identity/openid/loginTokens.ts';
import type { BorrowResult } from '../../vault/vault.ts';
import { RefreshTokenPlaceholder, type UseRefreshToken } from '../subject.ts';

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const RESOURCE = 'https://files.example/mcp';

let rig: TokenEndpointRig;
let assertion: { header: Record<string, unknown>; claims: Record<string, unknown> };
let answer: Record<string, unknown>;
let second: TokenEndpointReply;
let issuedCount = 0;

beforeEach(async () => {
  rig = await createTokenEndpointRig();
  assertion = { header: {}, claims: {} };
  answer = {};
  second = createTokenReply();
  rig.endpoint.reply = ({ path, form }) =>
    path === '/idp' ? { body: { ...first(form['audience']), ...answer } } : second;
});
afterEach(() => rig.close());

const issuer = (name: string) => `${rig.endpoint.origin}/${name}`;

function first(audience: string | undefined) {
  issuedCount += 1;
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const header = { alg: 'ES256', typ: 'oauth-id-jag+jwt', ...assertion.header };
  const exp = rig.clock.now() / 1000 + 300;
  const claims = {
    ...{ iss: issuer('login'), sub: 'ada', aud: audience, client_id: 'us-there', resource: RESOURCE },
    ...{ exp, jti: `jti-${issuedCount}`, ...assertion.claims },
  };
  return {
    access_token: `${encode(header)}.${encode(claims)}.c2ln`,
    ...{ issued_token_type: ID_JAG, token_type: 'N_A', expires_in: 300 },
  };
}

function settingsOf() {
  const there = { clientId: 'us-there', clientSecret: 's-there' };
  return {
    ...{ type: 'id-jag' as const, issuer: issuer('login'), tokenEndpoint: issuer('idp'), clientId: 'us' },
    clientSecret: 's-login',
    resourceServers: [{ ...there, issuer: issuer('as'), tokenEndpoint: issuer('as/token') }],
  };
}

function at(overrides: Partial<ProviderSettings> = {}, audience?: string) {
  const settings = { ...settingsOf(), ...overrides };
  return rig.provider(settings, audience === undefined ? {} : { audience });
}
const two = (): Partial<ProviderSettings> => ({
  resourceServers: ['one', 'two'].map((name) => ({
    ...{ issuer: issuer(name), tokenEndpoint: issuer(`${name}/token`), clientId: 'us-there' },
    clientSecret: `s-${name}`,
  })),
});
const paths = () => rig.endpoint.requests.map(({ path }) => path);

describe('an exchange by an identity assertion', () => {
  test('both legs, byte for byte', async () => {
    const token = await runExchange(at(), { scopes: ['b', 'a'], claims: '{}' });
    expect(token).toMatchObject({ token: 'exchanged-token', lifetimeMs: 3_599_000 });
    const [one, two] = rig.endpoint.requests;
    expect(one?.body).toBe(
      'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange' +
        '&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aid-jag' +
        '&subject_token=subject-token-of-ada&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aid_token' +
        `&scope=b+a&audience=${encodeURIComponent(issuer('as'))}&resource=https%3A%2F%2Ffiles.example%2Fmcp&claims=%7B%7D`,
    );
    expect(two?.form).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: expect.stringMatching(/^[\w-]+\.[\w-]+\.c2ln$/),
    });
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    expect([one?.headers.authorization, two?.headers.authorization]).toEqual([
      basic('us:s-login'),
      basic('us-there:s-there'),
    ]);
    expect(paths()).toEqual(['/idp', '/as/token']);
  });

  test('the ID token is in no request but the first', async () => {
    await runExchange(at());
    second = { status: 500 };
    await expectExchangeFault(runExchange(at()));
    const holding = rig.endpoint.requests.filter(({ body, headers }) =>
      (body + JSON.stringify(headers)).includes('subject-token-of-ada'),
    );
    expect(holding.map(({ path }) => path)).toEqual(['/idp', '/idp']);
  });

  test('one that is meant for anybody else goes nowhere', async () => {
    const wrong: Partial<typeof assertion>[] = [
      { header: { typ: 'JWT' } },
      { header: { typ: undefined } },
      { header: { alg: 'none' } },
      { claims: { aud: 'https://elsewhere.example' } },
      { claims: { aud: undefined } },
      { claims: { aud: [issuer('as'), 'https://elsewhere.example'] } },
      { claims: { client_id: 'somebody-else' } },
      { claims: { client_id: undefined } },
      { claims: { resource: 'https://other.example/mcp' } },
      { claims: { resource: [RESOURCE, 'https://other.example/mcp'] } },
      { claims: { resource: undefined } },
      { claims: { iss: 'https://other-idp.example' } },
      { claims: { exp: 1 } },
      { claims: { exp: undefined } },
      { claims: { sub: undefined } },
      { claims: { sub: '' } },
      { claims: { jti: undefined } },
      { claims: { jti: '' } },
    ];
    for (const over of wrong) {
      assertion = { header: {}, claims: {}, ...over };
      const fault = await expectExchangeFault(runExchange(at()));
      expect([over, fault.code, fault.detail.hint]).toEqual([
        over,
        'OBO_EMPTY_RESPONSE',
        expect.stringContaining('does not match the request'),
      ]);
    }
    expect(new Set(paths())).toEqual(new Set(['/idp']));
  });

  test('what is no assertion is none', async () => {
    const others = [
      { token_type: 'Bearer' },
      { token_type: undefined },
      { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' },
      { issued_token_type: undefined },
      { access_token: 'opaque' },
      { access_token: '' },
      { access_token: `${'a'.repeat(40_000)}.b.c` },
    ];
    for (const over of others) {
      answer = over;
      expect(await expectExchangeFault(runExchange(at()))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
    }
    expect(new Set(paths())).toEqual(new Set(['/idp']));
    // And what the second leg gives has to be a bearer token.
    answer = {};
    second = createTokenReply({ token_type: 'N_A' });
    expect(await expectExchangeFault(runExchange(at()))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
  });

  test('each exchange has one of its own, and one that came before is refused', async () => {
    const provider = at();
    await runExchange(provider);
    await runExchange(provider);
    const sent = rig.endpoint.requests.flatMap(({ form }) => form['assertion'] ?? []);
    expect(new Set(sent).size).toBe(2);
    assertion.claims = { jti: `jti-${issuedCount}` };
    expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
    expect(paths().filter((path) => path !== '/idp')).toHaveLength(2);
  });

  test('what the resource’s authorization server says asks nothing of a sign-in', async () => {
    const faults: [TokenEndpointReply, string][] = [
      [{ status: 400, body: { error: 'invalid_grant' } }, 'OBO_REJECTED'],
      [
        { status: 400, body: { error: 'interaction_required', claims: '{"id_token":{"x":null}}' } },
        'OBO_REJECTED',
      ],
      [{ status: 401, body: { error: 'invalid_client' } }, 'OBO_MISCONFIGURED'],
      [{ status: 503 }, 'OBO_TEMPORARY'],
      ['close', 'OBO_TEMPORARY'],
    ];
    for (const [reply, code] of faults) {
      second = reply;
      const fault = await expectExchangeFault(runExchange(at()));
      expect([reply, fault.code, fault.detail.claims]).toEqual([reply, code, undefined]);
      expect(fault.detail.hint).toContain('resource’s authorization server');
    }
  });
});

describe('the authorization server of a resource', () => {
  test('is the one that the server names, of those that are listed', async () => {
    await runExchange(at(two()), {
      targetServer: createExchangeResource(['https://attacker.example', issuer('two'), issuer('one')]),
    });
    expect(paths()).toEqual(['/idp', '/two/token']);
    for (const servers of [[], ['https://attacker.example'], [`${issuer('two')}/`]]) {
      const fault = await expectExchangeFault(
        runExchange(at(two()), { targetServer: createExchangeResource(servers) }),
      );
      expect(fault).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    }
    expect(paths()).toHaveLength(2);
  });

  test('is the only one there is, or the one the definition names, and nobody asks', async () => {
    const targetServer = { url: RESOURCE, authorizationServers: () => Promise.reject(new Error('asked')) };
    await runExchange(at(), { targetServer });
    await runExchange(at(two(), issuer('two')), { targetServer });
    expect(paths()).toEqual(['/idp', '/as/token', '/idp', '/two/token']);
    const unlisted = at(two(), 'https://attacker.example');
    expect(await expectExchangeFault(runExchange(unlisted, { targetServer }))).toMatchObject({
      code: 'OBO_MISCONFIGURED',
    });
    expect(paths()).toHaveLength(4);
  });

  test('is part of what names a token', () => {
    const [mine] = two().resourceServers ?? [];
    if (!mine) throw new Error('There are two');
    const identities = [
      at(),
      at(two()),
      at(two(), issuer('one')),
      at(two(), issuer('two')),
      at({ resourceServers: [mine] }),
      at({ resourceServers: [{ ...mine, clientId: 'other' }] }),
      at({ resourceServers: [{ ...mine, clientSecret: 'other' }] }),
      at({ resourceServers: [{ ...mine, clientAuth: 'post' }] }),
    ].map(({ identity }) => JSON.stringify([identity.endpoint, identity.credentialVersion]));
    // A list of one is the same as the one that is named.
    expect(new Set(identities).size).toBe(identities.length - 1);
    expect(at().identity.grant).toBe('id-jag');
  });

  describe('with a refresh token', () => {
    const TYPE = 'urn:ietf:params:oauth:token-type:';
    const returned: BorrowResult<unknown>[] = [];
    const signals: Cancellation[] = [];
    let endpoint: string;
    let clientId: string;
    beforeEach(() => {
      returned.length = 0;
      signals.length = 0;
      endpoint = issuer('idp');
      clientId = 'us';
    });
    /** A subject whose token is lent as the vault does. */
    const lending = (outcome?: RefreshTokenUse<never>) => {
      const { subject } = createExchangeRequest();
      const withRefreshToken: UseRefreshToken = async (signal, work) => {
        signals.push(signal);
        if (outcome) return outcome;
        const back = await work({ endpoint, clientId, reveal: () => new HiddenText('refresh-of-ada') });
        returned.push(back);
        return { kind: 'used', value: back.value };
      };
      return {
        ...createExchangeRequest(),
        subject: { ...subject, token: new RefreshTokenPlaceholder(), withRefreshToken },
      };
    };
    const ask = (request = lending(), overrides: Partial<ProviderSettings> = {}) =>
      at({ subject: 'refresh_token', ...overrides }).exchange(request, new AbortController().signal);

    test('the first leg says what it shows', async () => {
      expect(await ask()).toMatchObject({ token: 'exchanged-token' });
      const [one, two] = rig.endpoint.requests;
      expect(one?.form).toMatchObject({
        ...{ subject_token: 'refresh-of-ada', subject_token_type: `${TYPE}refresh_token` },
        requested_token_type: ID_JAG,
      });
      expect(two?.body).not.toContain('refresh-of-ada');
      const takes = (['id_token', 'refresh_token', 'auto', undefined] as const).map(
        (subject) => at({ ...(subject && { subject }) }).subjectKind,
      );
      expect(takes).toEqual(['id_token', 'refresh_token', 'id_or_refresh_token', 'id_token']);
      expect(at({ subject: 'auto' }).identity).not.toEqual(at().identity);
    });

    test('what came in its place is handed back before the answer is read', async () => {
      answer = { refresh_token: 'the next one', issued_token_type: 'something else' };
      expect((await expectExchangeFault(ask())).code).toBe('OBO_EMPTY_RESPONSE');
      expect(returned).toMatchObject([{ rotatedToken: 'the next one', isInDoubt: false }]);
      for (const none of ['', 7, 'x'.repeat(40_000)]) {
        answer = { refresh_token: none };
        await ask();
        expect(returned.at(-1)?.rotatedToken).toBeUndefined();
      }
    });

    test('an answer that says nothing leaves it in doubt', async () => {
      rig.endpoint.reply = () => ({ status: 502, body: {} });
      expect((await expectExchangeFault(ask())).code).toBe('OBO_TEMPORARY');
      rig.endpoint.reply = () => ({ status: 400, body: { error: 'invalid_grant' } });
      expect((await expectExchangeFault(ask())).code).toBe('OBO_REJECTED');
      expect(returned.map(({ isInDoubt }) => isInDoubt)).toEqual([true, false]);
    });

    test('nobody but who gave it is shown it, and by nobody else', async () => {
      endpoint = issuer('elsewhere');
      expect((await expectExchangeFault(ask())).code).toBe('OBO_MISCONFIGURED');
      endpoint = issuer('idp');
      clientId = 'another';
      expect((await expectExchangeFault(ask())).code).toBe('OBO_MISCONFIGURED');
      expect(rig.endpoint.requests).toEqual([]);
    });

    test('of before the provider moved asks for another sign-in', async () => {
      rig.endpoint.reply = () => ({ body: { issuer: issuer('login'), token_endpoint: issuer('idp') } });
      const { tokenEndpoint: _none, ...settings } = settingsOf();
      const moved = rig.provider(settings);
      const use = () => moved.exchange(lending(), new AbortController().signal);
      endpoint = issuer('before');
      expect((await expectExchangeFault(use())).code).toBe('OBO_REJECTED');
      // Of another client it never was any good.
      clientId = 'another';
      expect((await expectExchangeFault(use())).code).toBe('OBO_MISCONFIGURED');
      expect(paths().filter((path) => path === '/idp')).toEqual([]);
    });

    test('who gives up waiting is known to have left', async () => {
      const giving = new AbortController();
      await at({ subject: 'refresh_token' }).exchange(lending(), giving.signal);
      giving.abort();
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    });

    test('one that cannot be had is not made up for', async () => {
      const codes = await Promise.all(
        [{ kind: 'absent' }, { kind: 'expired' }, { kind: 'unavailable', retryAfterMs: 700 }].map(
          async (outcome) =>
            (await expectExchangeFault(ask(lending(outcome as RefreshTokenUse<never>)))).code,
        ),
      );
      expect(codes).toEqual(['OBO_REJECTED', 'OBO_REJECTED', 'OBO_TEMPORARY']);
      expect(rig.endpoint.requests).toEqual([]);
    });
  });
});
