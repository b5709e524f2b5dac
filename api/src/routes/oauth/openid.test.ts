import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseEnv } from '@behalf/contracts';
import {
  type AuditEvent,
  type FederatedTokens,
  GatewayError,
  type OpenIdLogin,
  type VerifiedToken,
} from '@behalf/gateway';
import type { UserRecord } from '@behalf/gateway/ports';
import { systemRandom } from '@behalf/kernel';
import { createFakeClock } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import express, { type ErrorRequestHandler } from 'express';
import { openIdCallback, openIdSettings } from '../../compose/openId.ts';
import { createSessionCookie } from '../../http/cookies.ts';
import { createRateLimits } from '../../http/limits.ts';
import { createOrigins } from '../../http/origins.ts';
import { openIdRoutes } from './openId.ts';
import type { OpenIdSignIn } from './openIdSessions.ts';

const CALLBACK = '/oauth/openid/callback';
const user = { id: 'u-ada', tenant: 'default', role: 'USER' } as UserRecord;
const verified = { subject: 'ada', groups: ['g1'] } as unknown as VerifiedToken;
const tokens: FederatedTokens = {
  ...{ issuer: 'https://idp.example', subject: 'ada', accessToken: 'at', idToken: 'it', expiresAt: 1 },
};

describe('signing in at the identity provider', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  });

  interface Over {
    publicUrl?: string;
    login?: Partial<OpenIdLogin>;
    user?: null;
    /** The store does not answer. */
    broken?: boolean;
  }

  async function begin(overrides: Over = {}) {
    const origins = createOrigins({ PUBLIC_URL: overrides.publicUrl, HOST: 'localhost' }, 80);
    const started: { user: UserRecord; how: OpenIdSignIn }[] = [];
    const finished: object[] = [];
    const logged: object[] = [];
    const audited: AuditEvent[] = [];
    const clock = createFakeClock();
    const claims = new Map<string, string>();
    const answer = <T>(value: T) =>
      overrides.broken ? Promise.reject(new Error('the store is away')) : Promise.resolve(value);
    const log = (event: string, fields: object = {}) => void logged.push({ event, ...fields });
    const routes = openIdRoutes({
      login: {
        start: async (returnTo, more) => ({
          url: `https://idp.example/authorize?returnTo=${returnTo ?? 'none'}${more?.claims ?? ''}`,
          flow: more?.claims === undefined ? 'sealed.flow' : 'asked.flow',
          expiresAt: Date.UTC(2030, 0, 1),
        }),
        finish: async (callback) => {
          finished.push(callback);
          const hasClaims = callback.flow === 'asked.flow';
          return { verified, tokens, returnTo: '/tools', hasClaims, grant: undefined };
        },
        hasRequestedClaims: (flow) => flow === 'asked.flow',
        ...overrides.login,
      },
      provisioning: { userFor: async () => (overrides.user === null ? null : user) },
      startSession: async (whose, how) => {
        started.push({ user: whose, how });
        return { secret: `new-session-${started.length}`, hash: 'h', expiresAt: Date.UTC(2030, 0, 1) };
      },
      startGrant: async () => {
        throw new Error('nobody was sent here for a client');
      },
      findSessionHolder: (secret) => {
        const authentication = { via: 'session', session: secret } as const;
        return answer(
          secret.startsWith('of-') ? { tenant: 'default', userId: secret.slice(3), authentication } : null,
        );
      },
      pendingClaims: {
        find: (principal) => answer(claims.get(principal)),
        remove: (principal) => answer(void claims.delete(principal)),
      },
      callbackPath: CALLBACK,
      origins: () => origins,
      cookie: () => createSessionCookie(origins),
      random: systemRandom,
      logger: { error: log, warn: log, info: log, debug: log },
      audit: { note: (event) => void audited.push(event) },
      limits: createRateLimits({ clock, perMinute: { calls: 1, writes: 1 } }),
      clientAddressOf: (req) => String(req.headers['x-from'] ?? '203.0.113.1'),
    });
    const app = express();
    for (const route of routes) {
      if (route.access !== 'public') throw new Error('meant for people who are not signed in');
      app[route.method](route.path, (req, res) => route.handle(req, res));
    }
    const onError: ErrorRequestHandler = (error: GatewayError, _req, res, _next) => {
      res.status(error.code === 'RATE_LIMITED' ? 429 : 500).end();
    };
    app.use(onError);
    const server = createServer(app).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const get = async (path: string, cookie = '', from = '203.0.113.1') => {
      const sent = { 'x-from': from, ...(cookie !== '' && { cookie }) };
      const init = { redirect: 'manual', headers: sent } as const;
      const { status, headers } = await fetch(`http://127.0.0.1:${port}${path}`, init);
      return { status, location: headers.get('location'), cookies: headers.getSetCookie(), headers };
    };
    return { get, started, finished, logged, audited, clock, claims };
  }

  test('the browser goes to the provider and keeps its login', async () => {
    const { get } = await begin();
    const { status, location, cookies, headers } = await get('/oauth/openid?returnTo=/tools');
    expect(status).toBe(302);
    expect(location).toBe('https://idp.example/authorize?returnTo=/tools');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(cookies).toEqual([
      `behalf_openid=sealed.flow; Path=${CALLBACK}; HttpOnly; SameSite=Lax; Expires=Tue, 01 Jan 2030 00:00:00 GMT`,
    ]);
    const twice = await get('/oauth/openid?returnTo=/a&returnTo=/b');
    expect(twice.location).toContain('returnTo=none');
  });

  test('over https no neighbour can plant a login', async () => {
    const { get } = await begin({ publicUrl: 'https://gateway.example' });
    const [cookie] = (await get('/oauth/openid')).cookies;
    expect(cookie).toMatch(/^__Host-behalf_openid=sealed\.flow; Path=\/; HttpOnly; SameSite=Lax; Secure;/);
    const planted = await get(`${CALLBACK}?code=c`, 'behalf_openid=sealed.flow');
    expect(planted.location).toContain('error=openid_failed');
  });

  test('who comes back gets a new session, whatever they had', async () => {
    const { get, started, finished, audited } = await begin();
    const cookie = 'behalf_session=planted; behalf_openid=sealed.flow';
    const { status, location, cookies } = await get(`${CALLBACK}?code=c&state=s`, cookie);
    expect([status, location]).toEqual([302, '/tools']);
    expect(finished).toEqual([{ flow: 'sealed.flow', query: '?code=c&state=s' }]);
    expect(started).toEqual([{ user, how: { via: 'openid', groups: ['g1'], tokens } }]);
    expect(cookies[0]).toMatch(/^behalf_openid=; .*Max-Age=0$/);
    expect(cookies[1]).toMatch(/^behalf_session=new-session-1; /);
    expect(audited).toEqual([]);
  });

  test('who is signed in is asked for more, once, and signs in anew', async () => {
    const { get, claims, started } = await begin();
    claims.set('["default","u-ada"]', '+claims');
    const response = await get('/oauth/openid', 'behalf_session=of-u-ada');
    expect(response.location).toBe('https://idp.example/authorize?returnTo=none+claims');
    // Who turns back on the way is asked again.
    expect((await get('/oauth/openid', 'behalf_session=of-u-ada')).location).toContain('+claims');
    // A sign-in that was begun without them answers nothing.
    await get(`${CALLBACK}?code=c`, 'behalf_openid=sealed.flow');
    expect(claims.size).toBe(1);
    const back = await get(`${CALLBACK}?code=c`, 'behalf_session=of-u-ada; behalf_openid=asked.flow');
    expect([back.location, started.length]).toEqual(['/tools', 2]);
    expect(back.cookies[1]).toMatch(/^behalf_session=new-session-2; /);
    expect(claims.size).toBe(0);
    expect((await get('/oauth/openid', 'behalf_session=of-u-ada')).location).not.toContain('claims');
  });

  test('nobody else has any sent, and no request brings them along', async () => {
    const { get, claims } = await begin();
    claims.set('["default","u-ada"]', '+claims');
    for (const cookie of ['', 'behalf_session=guess', 'behalf_session=of-u-bob']) {
      const { location } = await get('/oauth/openid?claims=%2Bclaims', cookie);
      expect(location).toBe('https://idp.example/authorize?returnTo=none');
    }
    expect(claims.size).toBe(1);
  });

  test('who cannot prove it, or is refused, is not asked a second time', async () => {
    const refused: Partial<OpenIdLogin>['finish'] = async () =>
      Promise.reject(new GatewayError('OPENID_FAILED'));
    for (const over of [{ login: { finish: refused } }, { user: null }]) {
      const { get, claims } = await begin(over);
      for (const name of ['ada', 'bob']) claims.set(`["default","u-${name}"]`, '+claims');
      const session = 'behalf_session=of-u-ada';
      // What failed was another sign-in, or somebody else's.
      for (const cookie of [session, `${session}; behalf_openid=sealed.flow`, 'behalf_openid=asked.flow']) {
        await get(`${CALLBACK}?error=access_denied`, cookie);
        expect(claims.size).toBe(2);
      }
      await get(`${CALLBACK}?error=access_denied`, `${session}; behalf_openid=asked.flow`);
      expect([...claims.keys()]).toEqual(['["default","u-bob"]']);
      expect((await get('/oauth/openid', session)).location).not.toContain('claims');
    }
  });

  test('nobody is sent off with an address that is too long', async () => {
    const { get, claims } = await begin();
    const url = 'https://idp.example/authorize?returnTo=none';
    for (const [length, isSent] of [
      [8_000, true],
      [8_001, false],
    ] as const) {
      claims.set('["default","u-ada"]', 'x'.repeat(length - url.length));
      const { status, location, cookies } = await get('/oauth/openid', 'behalf_session=of-u-ada');
      expect([status, location!.length]).toEqual([302, isSent ? length : url.length]);
      expect(cookies[0]).toContain(isSent ? 'asked.flow' : 'sealed.flow');
    }
  });

  test('a store that is away keeps nobody from signing in', async () => {
    const { get, claims, started, logged } = await begin({ broken: true });
    claims.set('["default","u-ada"]', '+claims');
    const response = await get('/oauth/openid', 'behalf_session=of-u-ada');
    expect(response.location).toBe('https://idp.example/authorize?returnTo=none');
    const back = await get(`${CALLBACK}?code=c`, 'behalf_openid=asked.flow');
    expect([back.location, started.length]).toEqual(['/tools', 1]);
    expect(logged).toHaveLength(3);
  });

  test('a failure shows an incident and nothing of the provider', async () => {
    const cases: [Parameters<typeof begin>[0], string, string][] = [
      [{}, '', 'openid_failed'],
      [{ user: null }, 'behalf_openid=f', 'forbidden'],
      ...(
        [
          ['OPENID_FAILED', 'openid_failed'],
          ['OPENID_UNAVAILABLE', 'openid_unavailable'],
          ['AUDIT_UNAVAILABLE', 'openid_failed'],
        ] as const
      ).map(([code, shown]): [Parameters<typeof begin>[0], string, string] => [
        { login: { finish: async () => Promise.reject(new GatewayError(code)) } },
        'behalf_openid=f',
        shown,
      ]),
      [
        { login: { finish: async () => Promise.reject(new Error('words of the provider')) } },
        'behalf_openid=f',
        'openid_failed',
      ],
    ];
    for (const [over, cookie, shown] of cases) {
      const { get, started, logged } = await begin(over);
      const { status, location, cookies } = await get(`${CALLBACK}?error=access_denied`, cookie);
      expect(status).toBe(302);
      const incident = new URLSearchParams(location!.slice(2)).get('incident');
      expect(location).toBe(`/?error=${shown}&incident=${incident!}`);
      expect(logged).toMatchObject([{ incident }]);
      expect(cookies).toHaveLength(1);
      expect(cookies[0]).toContain('Max-Age=0');
      expect(started).toEqual([]);
    }
  });

  test('a failed one is written down, and names nobody', async () => {
    const refused = async () => Promise.reject(new GatewayError('OPENID_FAILED'));
    const { get, audited } = await begin({ login: { finish: refused } });
    await get(`${CALLBACK}?code=planted`, 'behalf_openid=planted');
    const { get: again, audited: forbidden } = await begin({ user: null });
    await again(`${CALLBACK}?code=c`, 'behalf_openid=f');
    const event = { kind: 'sign_in', action: 'session.start', outcome: 'refused', door: 'browser' };
    const anonymous = { tenant: 'default', actor: { kind: 'anonymous', id: '' } };
    expect(audited).toEqual([{ ...event, ...anonymous, code: 'OPENID_FAILED' }]);
    expect(forbidden).toEqual([{ ...event, ...anonymous, code: 'FORBIDDEN' }]);
  });

  test('an address that fails without end is stopped at both doors', async () => {
    const refused = async () => Promise.reject(new GatewayError('OPENID_FAILED'));
    let startedCount = 0;
    let tried = 0;
    const login: Partial<OpenIdLogin> = {
      start: async () => {
        startedCount += 1;
        return { url: 'https://idp.example/', flow: 'f', expiresAt: Date.UTC(2030, 0, 1) };
      },
      finish: () => {
        tried += 1;
        return refused();
      },
    };
    const { get, audited, clock } = await begin({ login });
    const flow = 'behalf_openid=f';
    for (let i = 0; i < 300; i += 1) {
      expect((await get(`${CALLBACK}?code=c`, flow, `203.0.113.1:${i + 1}`)).status).toBe(302);
    }
    for (let i = 0; i < 5; i += 1) {
      const stopped = await get(`${CALLBACK}?code=c`, flow);
      expect([stopped.status, stopped.cookies]).toEqual([429, []]);
      expect((await get('/oauth/openid')).status).toBe(429);
    }
    expect([startedCount, tried, audited.length]).toEqual([0, 300, 300]);
    expect((await get('/oauth/openid', '', '203.0.113.2')).status).toBe(302);
    await clock.advance(60_000);
    expect((await get('/oauth/openid')).status).toBe(302);
  });

  test('a provider that is not there is said so', async () => {
    const unavailable = async () => Promise.reject(new GatewayError('OPENID_UNAVAILABLE'));
    const { get } = await begin({ login: { start: unavailable } });
    const { location, cookies } = await get('/oauth/openid');
    expect(location).toMatch(/^\/\?error=openid_unavailable&incident=[\w-]{22}$/);
    expect(cookies).toEqual([]);
  });
});

describe('the identity provider in the environment', () => {
  const settingsOf = (record: Record<string, string>) => {
    const parsed = parseEnv(record);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
    return openIdSettings(parsed.env);
  };

  test('there is none until an issuer is named', () => {
    expect(settingsOf({})).toBeNull();
    const issuer = 'https://idp.example';
    expect(settingsOf({ OPENID_ISSUER: issuer, OPENID_AUDIENCE: 'a' })).toEqual({
      ...{ issuer, clientId: null, clientSecret: null, audience: 'a', scope: 'openid profile email' },
      ...{ callbackUrl: CALLBACK, roleClaim: 'roles', groupsClaim: null, tenantClaim: null },
      ...{
        adminRole: null,
        requiredRole: null,
        allowedTenants: null,
        allowedClients: null,
        introspection: false,
      },
    });
  });

  test('rules look in the role claim unless told otherwise', () => {
    const base = { OPENID_ISSUER: 'https://idp.example', OPENID_CLIENT_ID: 'c', OPENID_ROLE_CLAIM: 'r' };
    const lists = { OPENID_ALLOWED_TENANTS: 'a, b', OPENID_ALLOWED_CLIENTS: ' , ' };
    const rules = { OPENID_ADMIN_ROLE: 'x, y', OPENID_REQUIRED_ROLE: 'staff, guest' };
    expect(settingsOf({ ...base, ...lists, ...rules })).toMatchObject({
      adminRole: { values: ['x, y'], claim: 'r', from: 'id' },
      requiredRole: { values: ['staff', 'guest'], claim: 'r', from: 'id' },
      allowedTenants: ['a', 'b'],
      allowedClients: [],
    });
    const places = {
      OPENID_REQUIRED_ROLE_PARAMETER_PATH: 'a.b',
      OPENID_REQUIRED_ROLE_TOKEN_KIND: 'userinfo',
    };
    expect(settingsOf({ ...base, ...rules, ...places })).toMatchObject({
      requiredRole: { claim: 'a.b', from: 'userinfo' },
    });
  });

  test('the callback is ours, or the address that is named', () => {
    const at = (callbackUrl: string) => openIdCallback({ callbackUrl }, 'http://localhost:3080').href;
    expect(at(CALLBACK)).toBe(`http://localhost:3080${CALLBACK}`);
    expect(at('https://gateway.example/x/y?z#a')).toBe('https://gateway.example/x/y');
  });
});
