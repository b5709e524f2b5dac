import { generateKeyPairSync } from 'node:crypto';
import { HiddenText, systemClock, systemRandom } from '@behalf/kernel';
import {
  createFakeClock,
  createTestNetwork,
  startAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type ScriptedOAuthResponse,
} from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { OAuthClient } from './clientAuthentication.ts';
import { revokeTokens } from './revocation.ts';
import { requestTokens, type OAuthTokenRequest } from './tokenEndpoint.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const publicClient: OAuthClient = { clientId: 'behalf', source: 'configured', auth: { method: 'none' } };

async function tokenEndpointRig(options: AuthorizationServerOptions = {}) {
  const server = await startAuthorizationServer({
    clients: [{ clientId: 'behalf', authMethod: 'none' }],
    ...options,
  });
  const network = createTestNetwork([server.port]);
  open.push(
    () => server.close(),
    () => network.close(),
  );
  const fetch = network.fetchTo({ url: server.origin, audience: 'yaml-server' });
  const ask = (change: Partial<OAuthTokenRequest> = {}) =>
    requestTokens({
      ...{ endpoint: server.endpoints.token, issuer: server.issuer, client: publicClient, fetch },
      form: { grant_type: 'refresh_token', refresh_token: 'rt' },
      ...{
        readError: (error: unknown) => network.readError(error),
        clock: systemClock,
        random: systemRandom,
      },
      ...change,
    });
  return { server, network, fetch, ask };
}

function grantForm(server: AuthorizationServer, clientId: string): Record<string, string> {
  const { refreshToken = '' } = server.grant({ clientId });
  return { grant_type: 'refresh_token', refresh_token: refreshToken };
}

describe('a token request', () => {
  test('is judged by status and code alone', async () => {
    const { server, ask } = await tokenEndpointRig();
    const json = (
      status: number,
      body: ScriptedOAuthResponse['body'],
      headers = {},
    ): ScriptedOAuthResponse => ({
      status,
      body: body ?? {},
      headers,
    });
    const error = (code: unknown, more = {}) => ({
      error: code,
      error_description: 'invalid_grant',
      ...more,
    });
    const rows: readonly (readonly [ScriptedOAuthResponse, object])[] = [
      [json(400, error('invalid_grant')), { kind: 'rejected', error: 'invalid_grant' }],
      [json(200, error('invalid_grant')), { kind: 'rejected' }],
      [json(401, error('invalid_client')), { kind: 'client_refused', error: 'invalid_client' }],
      [json(400, error('unauthorized_client')), { kind: 'client_refused' }],
      [json(400, error('invalid_scope')), { kind: 'misconfigured', error: 'invalid_scope' }],
      [json(400, error('invalid_target')), { kind: 'misconfigured' }],
      [json(400, error('unsupported_grant_type')), { kind: 'misconfigured' }],
      [json(400, error('invalid_request')), { kind: 'misconfigured' }],
      [
        json(400, error('interaction_required', { claims: '{"a":{}}' })),
        { kind: 'user_needed', claims: '{"a":{}}' },
      ],
      [json(400, error('consent_required')), { kind: 'user_needed', error: 'consent_required' }],
      [json(400, error('login_required')), { kind: 'user_needed' }],
      [json(400, error('invalid_grant', { suberror: 'consent_required' })), { kind: 'user_needed' }],
      [json(400, error('invalid_grant', { claims: '{"a":{}}' })), { kind: 'user_needed' }],
      [
        json(429, error('invalid_grant'), { 'retry-after': '7' }),
        { kind: 'unavailable', retryAfterMs: 7_000 },
      ],
      [json(429, 'no'), { kind: 'unavailable', retryAfterMs: 2_000 }],
      [json(503, 'no', { 'retry-after': '900' }), { kind: 'unavailable', retryAfterMs: 60_000 }],
      [json(503, 'no'), { kind: 'in_doubt', status: 503 }],
      [json(500, error('invalid_grant')), { kind: 'in_doubt', status: 500 }],
      [json(400, error('temporarily_unavailable')), { kind: 'unavailable' }],
      [json(404, 'no'), { kind: 'moved', status: 404 }],
      [json(405, 'no'), { kind: 'moved', status: 405 }],
      [json(400, 'invalid_grant'), { kind: 'unintelligible', status: 400 }],
      [json(400, error('something_else')), { kind: 'unintelligible' }],
      [json(400, error(['invalid_grant'])), { kind: 'unintelligible' }],
      [json(403, { message: 'invalid_grant' }), { kind: 'unintelligible', status: 403 }],
      [json(200, {}), { kind: 'in_doubt', status: 200 }],
      [json(200, 'at'), { kind: 'in_doubt' }],
      [json(200, { access_token: 4711, token_type: 'Bearer' }), { kind: 'in_doubt' }],
      [json(200, { access_token: 'a b', token_type: 'Bearer' }), { kind: 'in_doubt' }],
      [json(200, { access_token: 'at', token_type: 'mac' }), { kind: 'in_doubt' }],
      [json(204, ''), { kind: 'in_doubt' }],
      [json(302, 'no', { location: `${server.origin}/elsewhere` }), { kind: 'unintelligible', status: 302 }],
    ];
    for (const [answer, expected] of rows) {
      server.respondNext('token', answer);
      expect([answer, await ask()]).toMatchObject([answer, expected]);
    }
    expect(server.counters.tokenHits).toBe(rows.length);
  });

  test('brings tokens as they are written', async () => {
    const { server, ask } = await tokenEndpointRig();
    const cases = [
      [
        { access_token: 'at', token_type: 'BEARER', expires_in: 60 },
        { tokenType: 'bearer', expiresInS: 60 },
      ],
      [
        { access_token: 'at', token_type: 'DPoP' },
        { tokenType: 'dpop', expiresInS: null },
      ],
      [{ access_token: 'at', expires_in: '3600' }, { expiresInS: 3_600 }],
      [{ access_token: 'at', expires_in: 0 }, { expiresInS: 0 }],
      [{ access_token: 'at', expires_in: -1 }, { expiresInS: -1 }],
      [{ access_token: 'at', expires_in: 'soon' }, { expiresInS: null }],
      [
        { access_token: 'at', refresh_token: 7, scope: '' },
        { isRefreshTokenUnusable: true, scope: undefined },
      ],
      [
        { access_token: 'at', refresh_token: 'rt', scope: 'b a' },
        { refreshToken: 'rt', scope: 'b a' },
      ],
    ] as const;
    for (const [body, expected] of cases) {
      server.respondNext('token', { status: 200, body });
      expect(await ask()).toMatchObject({ kind: 'tokens', tokens: { accessToken: 'at', ...expected } });
    }
    // What could not stand in a header is none.
    for (const accessToken of [7, '', 'a b', 'a\nb', 'a'.repeat(100_000)]) {
      server.respondNext('token', { status: 200, body: { access_token: accessToken } });
      expect((await ask()).kind).not.toBe('tokens');
    }
    server.respondNext('token', { status: 200, body: { access_token: 'at', id_token: 7 } });
    expect(await ask()).toMatchObject({ tokens: { accessToken: 'at', idToken: undefined } });
    // Some know no JSON.
    server.respondNext('token', {
      status: 200,
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body: 'access_token=at&token_type=bearer&expires_in=60&scope=a+b',
    });
    expect(await ask()).toMatchObject({ tokens: { accessToken: 'at', expiresInS: 60, scope: 'a b' } });
    const [request] = server.received('token');
    expect(request!.headers).toMatchObject({ accept: 'application/json' });
  });

  test('that was not sent is told from one that may have arrived', async () => {
    const { server, fetch, ask } = await tokenEndpointRig();
    const away = 'https://nowhere.example.com/token';
    expect(await ask({ endpoint: away })).toEqual({ kind: 'unavailable' });
    const refusing = createTestNetwork([1]);
    open.push(() => refusing.close());
    const unreachable = {
      endpoint: 'http://127.0.0.1:1/token',
      fetch: refusing.fetchTo({ url: 'http://127.0.0.1:1', audience: 'yaml-server' }),
      readError: (error: unknown) => refusing.readError(error),
    };
    expect(await ask(unreachable)).toEqual({ kind: 'unavailable' });
    expect(await ask({ endpoint: 'http://10.1.2.3/token' })).toEqual({
      kind: 'misconfigured',
      error: 'endpoint_not_allowed',
    });
    server.change({ dropAnswers: 1 });
    expect(await ask({ form: grantForm(server, 'behalf') })).toEqual({ kind: 'in_doubt' });
    // Nobody can say whether it arrived.
    const broken = async () => Promise.reject(new Error('who knows'));
    expect(await ask({ fetch: broken })).toEqual({ kind: 'in_doubt' });
    let isSent = false;
    const watched: typeof fetch = (...args) => ((isSent = true), fetch(...args));
    expect(await ask({ fetch: watched, canSend: () => false })).toEqual({ kind: 'unavailable' });
    expect(isSent).toBe(false);
  });

  test('takes so long and reads so much at most', async () => {
    const { server, ask } = await tokenEndpointRig();
    server.respondNext('token', { status: 200, body: { access_token: 'at', more: 'x'.repeat(300_000) } });
    expect(await ask()).toEqual({ kind: 'in_doubt' });
    const clock = createFakeClock();
    const gate = server.hold('token', 'before');
    const response = ask({ clock });
    await gate.arrived();
    await clock.advance(9_999);
    await clock.advance(1);
    expect(await response).toEqual({ kind: 'in_doubt' });
    gate.release();
  });

  test('is read by a process that was stopped, although its time is over', async () => {
    const { server, fetch, ask } = await tokenEndpointRig();
    // All that came while nobody looked: first the timer, then the answer.
    const clock = createFakeClock();
    let wake = () => {};
    const stopped = new Promise<void>((resolve) => (wake = resolve));
    const timers: (() => void)[] = [];
    const own = {
      now: () => clock.now(),
      timer: (ms: number, fn: () => void) => (timers.push(fn), clock.timer(ms, () => undefined)),
    };
    const late: typeof fetch = async (url, { signal, ...init } = {}) => {
      const answer = await fetch(url, init);
      await stopped;
      signal?.throwIfAborted();
      return answer;
    };
    const response = ask({ clock: own, fetch: late, form: grantForm(server, 'behalf') });
    while (timers.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await clock.advance(25_000);
    timers[0]!();
    wake();
    expect(await response).toMatchObject({ kind: 'tokens' });
  });
});

describe('the proof of a client', () => {
  const id = 'be:half%20+ö';
  const secret = 'p@ss:w%rd+ä';

  for (const method of ['client_secret_basic', 'client_secret_post'] as const) {
    test(`by ${method}`, async () => {
      const { server, ask } = await tokenEndpointRig({
        clients: [{ clientId: id, authMethod: method, secret }],
      });
      const client: OAuthClient = {
        clientId: id,
        source: 'configured',
        auth: { method, secret: new HiddenText(secret) },
      };
      expect(await ask({ client, form: grantForm(server, id) })).toMatchObject({ kind: 'tokens' });
      const [request] = server.received('token');
      expect(request!.clientAuth).toEqual({ method, clientId: id });
      // One proof and never two.
      expect('client_id' in request!.form).toBe(method === 'client_secret_post');
      const wrong: OAuthClient = { ...client, auth: { method, secret: new HiddenText('other') } };
      expect(await ask({ client: wrong, form: grantForm(server, id) })).toMatchObject({
        kind: 'client_refused',
      });
    });
  }

  test('by private_key_jwt, for this issuer and no endpoint', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1' }];
    const { server, ask } = await tokenEndpointRig({
      clients: [{ clientId: 'behalf', authMethod: 'private_key_jwt', keys }],
    });
    const auth = { method: 'private_key_jwt', key: privateKey, alg: 'ES256', kid: 'k1' } as const;
    const client: OAuthClient = { clientId: 'behalf', source: 'configured', auth };
    let body = '';
    const answer = await ask({ client, form: grantForm(server, 'behalf') });
    expect(answer).toMatchObject({ kind: 'tokens' });
    await ask({
      client,
      fetch: async (_url, init) => {
        body = init?.body as string;
        throw new Error('seen');
      },
    });
    const assertion = new URLSearchParams(body).get('client_assertion') ?? '';
    const claims = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(claims).toMatchObject({ iss: 'behalf', sub: 'behalf', aud: server.issuer });
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey;
    const unusable: OAuthClient = { ...client, auth: { method: 'private_key_jwt', key: rsa, alg: 'ES256' } };
    expect(await ask({ client: unusable })).toEqual({ kind: 'misconfigured', error: 'client_key_unusable' });
  });

  test('is not replaced by what a definition adds', async () => {
    const { server, ask } = await tokenEndpointRig();
    const form = { ...grantForm(server, 'behalf'), client_id: 'other' };
    const headers = { 'X-Tenant': 'one', 'Content-Type': 'text/plain', Accept: 'text/html' };
    expect(await ask({ form, headers })).toMatchObject({ kind: 'tokens' });
    const [request] = server.received('token');
    expect(request!.form['client_id']).toBe('behalf');
    expect(request!.headers).toMatchObject({
      'x-tenant': 'one',
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
    });
  });
});

describe('a revocation', () => {
  test('ends the refresh token, then the access token, and tells what is true', async () => {
    const { server, fetch } = await tokenEndpointRig({ revocation: 'token' });
    const granted = server.grant({ clientId: 'behalf' });
    const { accessToken, refreshToken } = granted;
    const request = {
      ...{ endpoint: server.endpoints.revocation, issuer: server.issuer, client: publicClient, fetch },
      ...{ clock: systemClock, random: systemRandom, accessToken, refreshToken },
    };
    expect(await revokeTokens(request)).toBe(true);
    expect(server.isCurrent(refreshToken!)).toBe(false);
    expect(server.inspect(accessToken)).toBeUndefined();
    expect(server.received('revoke').map(({ form }) => form['token_type_hint'])).toEqual([
      'refresh_token',
      'access_token',
    ]);
    const ok = { status: 200, body: '' };
    const unsupported = { status: 400, body: { error: 'unsupported_token_type' } };
    server.respondNext('revoke', ok, unsupported);
    expect(await revokeTokens(request)).toBe(true);
    server.respondNext('revoke', unsupported, ok);
    expect(await revokeTokens(request)).toBe(false);
    server.respondNext('revoke', ok, { status: 503, body: '' });
    expect(await revokeTokens(request)).toBe(false);
    server.respondNext('revoke', { status: 302, headers: { location: '/elsewhere' }, body: '' }, ok);
    expect(await revokeTokens(request)).toBe(false);
    expect(await revokeTokens({ ...request, endpoint: 'https://nowhere.example.com/revoke' })).toBe(false);
  });

  test('takes five seconds in all', async () => {
    const { server, fetch } = await tokenEndpointRig();
    const clock = createFakeClock();
    const gate = server.hold('revoke', 'before');
    const revoking = revokeTokens({
      ...{ endpoint: server.endpoints.revocation, issuer: server.issuer, client: publicClient, fetch, clock },
      ...{ random: systemRandom, accessToken: 'at', refreshToken: 'rt' },
    });
    await gate.arrived();
    await clock.advance(5_000);
    expect(await revoking).toBe(false);
    gate.release();
    expect(server.received('revoke').length).toBeLessThan(2);
  });
});
