import type { IncomingMessage } from 'node:http';
import { GatewayError, type Principal } from '@behalf/gateway';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createSessionCookie } from './cookies.ts';
import { createOrigins } from './origins.ts';
import { type RouteRequirements, createAdmission, createCallerResolver } from './authentication.ts';
import { createRateLimits } from './limits.ts';

const ada = aPrincipal({ userId: 'u1', role: 'ADMIN' });
const everyScope = ['mcp', 'servers', 'admin', 'obo'];
/** By what is presented. */
const callers: Record<string, Principal> = {
  cookie: { ...ada, authentication: { via: 'session', session: 's' } },
  token: { ...ada, authentication: { via: 'bearer' } },
  bhf_key: { ...ada, authentication: { via: 'api_key', key: 'k', scopes: everyScope } },
};

function createDoor() {
  const clock = createFakeClock();
  const origins = createOrigins({ PUBLIC_URL: undefined, HOST: '127.0.0.1' }, 1);
  const cookie = () => createSessionCookie(origins);
  const limits = createRateLimits({ clock, perMinute: { calls: 1e6, writes: 1e6 } });
  const requests: string[] = [];
  const seen = new Set<string>();
  const cache = {
    isCached: (secret: string) => seen.has(secret),
    resolve: async (secret: string) => {
      requests.push(secret);
      if (secret.startsWith('unheard')) throw new GatewayError('OPENID_UNAVAILABLE');
      const found = Object.hasOwn(callers, secret) ? (callers[secret] ?? null) : null;
      if (found) seen.add(secret);
      return found;
    },
    close: () => undefined,
  };
  const admission = createAdmission({
    resolveCaller: createCallerResolver({
      checkToken: () => undefined,
      ...{ sessions: cache, keys: cache, bearers: cache, cookie, limits },
      clientAddressOf: (req) => String(req.headers['x-from'] ?? '203.0.113.1'),
    }),
    ...{ limits, cookie, origins: () => origins, rejectsWrites: () => false },
  });
  const request = (headers: Record<string, string>, method = 'POST') =>
    ({ method, headers: { host: '127.0.0.1', ...headers }, socket: {} }) as unknown as IncomingMessage;
  /** `ok`, or the code of what was refused. */
  const outcome = async (work: () => unknown): Promise<string> => {
    try {
      await work();
      return 'ok';
    } catch (error) {
      return error instanceof GatewayError ? error.code : String(error);
    }
  };
  return {
    clock,
    requests,
    enter: (headers: Record<string, string>, to: Partial<RouteRequirements> = {}) =>
      outcome(() => admission.authenticate(request(headers), { access: 'signed-in', scope: 'mcp', ...to })),
    check: (headers: Record<string, string>) => outcome(() => admission.check(request(headers))),
  };
}

const byCookie = (secret: string, from = '203.0.113.1') => ({
  cookie: `behalf_session=${secret}`,
  'x-from': from,
});
const byToken = (token: string) => ({ authorization: `Bearer ${token}` });

describe('admission', () => {
  test('a door without a scope opens to a browser session alone', async () => {
    const { enter } = createDoor();
    for (const access of ['caller', 'signed-in', 'admin'] as const) {
      const door = { access, scope: 'none' } as const;
      expect(await enter(byCookie('cookie'), door)).toBe('ok');
      expect(await enter(byToken('token'), door)).toBe('API_KEY_SCOPE');
      expect(await enter(byToken('bhf_key'), door)).toBe('API_KEY_SCOPE');
    }
    for (const shown of [byCookie('cookie'), byToken('token'), byToken('bhf_key')]) {
      expect(await enter(shown, { access: 'admin', scope: 'admin' })).toBe('ok');
    }
  });

  test('guessed cookies are stopped before the store is asked', async () => {
    const { enter, requests, clock } = createDoor();
    expect(await enter(byCookie('cookie'))).toBe('ok');
    for (let i = 0; i < 300; i += 1) expect(await enter(byCookie(`guess-${i}`))).toBe('AUTH_REQUIRED');
    const before = requests.length;
    expect(await enter(byCookie('guess-300'))).toBe('RATE_LIMITED');
    expect(await enter(byToken('guess-301'))).toBe('RATE_LIMITED');
    expect(requests).toHaveLength(before);
    // Who is known does not wait for a neighbour who guesses, and nobody waits for another network.
    expect(await enter(byCookie('cookie'))).toBe('ok');
    expect(await enter(byCookie('guess-302', '203.0.113.2'))).toBe('AUTH_REQUIRED');
    expect(await enter({})).toBe('AUTH_REQUIRED');
    await clock.advance(60_000);
    expect(await enter(byCookie('guess-303'))).toBe('AUTH_REQUIRED');
  });

  test('also while nobody can be asked about them', async () => {
    const { enter, requests } = createDoor();
    for (let i = 0; i < 300; i += 1) expect(await enter(byToken(`unheard-${i}`))).toBe('OPENID_UNAVAILABLE');
    const before = requests.length;
    expect(await enter(byToken('unheard-300'))).toBe('RATE_LIMITED');
    expect(requests).toHaveLength(before);
  });

  test('what a browser adds by itself is no proof of a program', async () => {
    const { check } = createDoor();
    const forged = { cookie: 'behalf_session=cookie', origin: 'https://evil.example' };
    for (const authorization of ['', 'Basic YWRhOnNlY3JldA==', 'Negotiate YII=', 'Bearer', 'Bearerx y']) {
      expect([authorization, await check({ ...forged, authorization })]).toEqual([
        authorization,
        'CSRF_REFUSED',
      ]);
    }
    for (const authorization of ['Bearer token', 'bearer token']) {
      expect(await check({ ...forged, authorization })).toBe('ok');
    }
  });
});
