import { request } from 'node:http';
import { Problem } from '@behalf/contracts';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { adaAccount, createBrowser, createAdministrator, setupTokenOf } from './browser.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

describe('the HTTP door', () => {
  let gateway: InProcessGateway;
  beforeEach(async () => {
    gateway = await startInProcess();
  });
  afterEach(() => gateway.close());

  const problem = async (response: Response) => {
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    const body = Problem.parse(await response.json());
    expect(body.status).toBe(response.status);
    return body;
  };

  test('every door but the public ones asks for a sign-in, and the public ones are these', async () => {
    const open = gateway.routes
      .filter(({ access }) => access === 'public')
      .map(({ method, path }) => `${method} ${path}`);
    expect(open.sort()).toEqual([
      'get /',
      // Of the interface: the page itself for who is signed in, else the way to the sign-in.
      'get /admin',
      'get /admin/:page',
      // Where browsers come back to and leave from: they are led to the sign-in, or told what is wrong, on a page.
      'get /api/mcp/:serverName/oauth/callback',
      'get /api/mcp/:serverName/oauth/initiate',
      'get /assets/:file',
      'get /blocks',
      'get /blocks/:id',
      'get /blocks/:id/edit',
      'get /chat',
      'get /chat/:id',
      'get /health',
      // Asks for a token or an administrator itself: a collector has no session.
      'get /metrics',
      // What authorization servers read about us, and the page that says how a sign-in at a server ended.
      'get /oauth/client/:file',
      'get /oauth/client/public/:file',
      'get /oauth/error',
      'get /oauth/jwks.json',
      'get /oauth/result.js',
      'get /oauth/success',
      'get /ready',
      'get /servers',
      'get /servers/:name',
      'get /sets',
      'get /sets/:id',
      'get /sets/:id/edit',
      'get /settings',
      'get /setup',
      'get /style.css',
      'get /tools',
      'get /tools/:server',
      'get /tools/:server/:tool',
      'post /api/auth/login',
      'post /api/auth/logout',
      'post /api/auth/setup',
    ]);
    const closed = gateway.routes.filter(({ access }) => access !== 'public');
    expect(closed.length).toBeGreaterThanOrEqual(4);
    for (const { method, path } of closed) {
      const response = await fetch(gateway.url + path.replace(/:\w+/g, 'x'), {
        method: method.toUpperCase(),
      });
      // Clients of MCP read JSON-RPC instead of a problem.
      const code = path.startsWith('/mcp')
        ? ((await response.json()) as { error: { data: { code: string } } }).error.data.code
        : (await problem(response)).code;
      expect([path, response.status, code]).toEqual([path, 401, 'AUTH_REQUIRED']);
    }
  });

  test('bound to loopback, a name that was rebound to it is refused', async () => {
    const { port } = new URL(gateway.url);
    const ask = (host: string) =>
      new Promise<number>((resolve, reject) => {
        request({
          host: '127.0.0.1',
          port,
          path: '/api/auth/login',
          method: 'POST',
          headers: { host, 'x-behalf-csrf': '1' },
        })
          .on('response', (response) => resolve(response.resume().statusCode ?? 0))
          .on('error', reject)
          .end();
      });
    expect(await ask(`evil.example:${port}`)).toBe(421);
    expect(await ask('127.0.0.1.evil.example')).toBe(421);
    expect(await ask(`localhost:${port}`)).toBe(400);
    expect(await ask(`[::1]:${port}`)).toBe(400);
  });

  test('without a body too, a program gets 204', async () => {
    const browser = await createAdministrator(gateway);
    const response = await browser.send('/api/auth/logout', {
      method: 'POST',
      headers: { origin: gateway.url },
    });
    expect(response.status).toBe(204);
  });

  test('a write with a cookie needs our own origin or our header', async () => {
    const browser = await createAdministrator(gateway);
    const write = (headers: Record<string, string>) =>
      browser.send('/api/admin/reload', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
      });
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${gateway.url}.evil.example` },
      { origin: 'http://127.0.0.1' },
      { 'x-behalf-csrf': '0' },
    ]) {
      const refused = await write(headers);
      expect([headers, (await problem(refused)).code]).toEqual([headers, 'CSRF_REFUSED']);
    }
    expect((await write({ origin: gateway.url })).status).toBe(200);
    expect((await write({ 'x-behalf-csrf': '1' })).status).toBe(200);
  });

  test('a foreign page cannot sign its victim in, and a rebound name is not our origin', async () => {
    await createAdministrator(gateway);
    const login = (headers: Record<string, string>) =>
      fetch(`${gateway.url}/api/auth/login`, {
        method: 'POST',
        body: JSON.stringify({ email: adaAccount.email, password: adaAccount.password }),
        headers: { 'content-type': 'application/json', ...headers },
      });
    const port = new URL(gateway.url).port;
    expect((await login({ origin: 'https://evil.example' })).status).toBe(403);
    expect(
      (await login({ origin: `http://evil.example:${port}`, host: `evil.example:${port}` })).status,
    ).toBe(403);
    expect((await login({})).status).toBe(200);
  });

  test('the cookie is HttpOnly and SameSite=Lax, and Secure with __Host- on https', async () => {
    const browser = createBrowser(gateway.url);
    const plain = await browser.post('/api/auth/setup', {
      token: setupTokenOf(gateway.setupLink),
      ...adaAccount,
    });
    expect(plain.headers.get('set-cookie')).toMatch(
      /^behalf_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Expires=/,
    );
    const https = await startInProcess({ PUBLIC_URL: 'https://gateway.example' });
    try {
      const response = await createBrowser(https.url).post(
        '/api/auth/setup',
        { token: setupTokenOf(https.setupLink), ...adaAccount },
        { origin: 'https://gateway.example' },
      );
      expect(response.headers.get('set-cookie')).toMatch(
        /^__Host-behalf_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Expires=/,
      );
      expect(response.headers.get('strict-transport-security')).not.toBeNull();
    } finally {
      await https.close();
    }
  });

  test('signing out ends the session itself, not only the cookie', async () => {
    const browser = await createAdministrator(gateway);
    const stolen = createBrowser(gateway.url);
    for (const [name, value] of browser.cookies) stolen.cookies.set(name, value);
    expect((await stolen.get('/api/user')).status).toBe(200);
    expect((await browser.post('/api/auth/logout')).status).toBe(204);
    expect(browser.cookies.size).toBe(0);
    expect((await stolen.get('/api/user')).status).toBe(401);
  });

  test('of ten requests with one link, one makes an account', async () => {
    const token = setupTokenOf(gateway.setupLink);
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        createBrowser(gateway.url).post('/api/auth/setup', {
          token,
          ...adaAccount,
          email: `ada${i}@example.com`,
        }),
      ),
    );
    expect(responses.map((response) => response.status).sort()).toEqual([201, ...Array<number>(9).fill(403)]);
    expect((await fetch(gateway.setupLink.replace('localhost', '127.0.0.1'))).status).toBe(403);
  });

  test('a refused setup leaves the link usable', async () => {
    const browser = createBrowser(gateway.url);
    const token = setupTokenOf(gateway.setupLink);
    const short = await problem(
      await browser.post('/api/auth/setup', { token, ...adaAccount, password: 'short' }),
    );
    expect(short).toMatchObject({ code: 'REQUEST_INVALID', errors: [{ path: 'password' }] });
    const unknown = await problem(
      await browser.post('/api/auth/setup', { token, ...adaAccount, role: 'ADMIN' }),
    );
    expect(unknown.code).toBe('REQUEST_INVALID');
    expect((await browser.post('/api/auth/setup', { token: 'wrong', ...adaAccount })).status).toBe(403);
    expect((await browser.post('/api/auth/setup', { token, ...adaAccount })).status).toBe(201);
  });

  test('the eleventh guess at an account is refused, with the right password too', async () => {
    await createAdministrator(gateway);
    const browser = createBrowser(gateway.url);
    const guess = (password: string) =>
      browser.post('/api/auth/login', { email: adaAccount.email, password });
    for (let i = 0; i < 10; i += 1)
      expect((await problem(await guess(`guess ${i}`))).code).toBe('AUTH_FAILED');
    const refused = await guess(adaAccount.password);
    expect((await problem(refused)).code).toBe('RATE_LIMITED');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('a wrong password and an unknown account are answered alike', async () => {
    await createAdministrator(gateway);
    const browser = createBrowser(gateway.url);
    const wrong = await browser.post('/api/auth/login', { email: adaAccount.email, password: 'wrong' });
    const unknown = await browser.post('/api/auth/login', {
      email: 'nobody@example.com',
      password: 'wrong',
    });
    expect(await unknown.json()).toEqual(await wrong.json());
  });

  test('what is not offered, not readable or too large is a problem with a code', async () => {
    const send = (path: string, init: RequestInit) => fetch(gateway.url + path, init);
    const json = { 'content-type': 'application/json' };
    const cases = [
      ['/api/nothing', {}, 'NOT_FOUND', 404],
      ['/%zz', {}, 'NOT_FOUND', 404],
      ['/api/user', { method: 'DELETE' }, 'METHOD_NOT_ALLOWED', 405],
      ['/api/auth/login', { method: 'POST', headers: json, body: '{' }, 'REQUEST_INVALID', 400],
      ['/api/auth/login', { method: 'POST', headers: json, body: '[]' }, 'REQUEST_INVALID', 400],
      [
        '/api/auth/login',
        { method: 'POST', headers: json, body: '"'.padEnd(2_000_000, 'x') },
        'REQUEST_TOO_LARGE',
        413,
      ],
    ] as const;
    for (const [path, init, code, status] of cases) {
      const response = await send(path, init);
      expect([path, response.status, (await problem(response)).code]).toEqual([path, status, code]);
    }
    expect((await send('/api/user', { method: 'DELETE' })).headers.get('allow')).toBe('GET');
  });

  test('no page of ours runs a script, is framed, cached or named to another site', async () => {
    for (const path of ['/', '/setup?token=x', '/api/user']) {
      const { headers } = await fetch(gateway.url + path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  test('with no account yet, the sign-in page says where to begin', async () => {
    const page = async () => (await fetch(gateway.url)).text();
    expect(await page()).toContain('There is no account yet');
    await createAdministrator(gateway);
    expect(await page()).not.toContain('There is no account yet');
  });

  test('what a form sent comes back as text', async () => {
    const browser = createBrowser(gateway.url);
    const evil = '"><script>alert(1)</script>';
    const page = await browser.form('/api/auth/setup', {
      token: setupTokenOf(gateway.setupLink),
      email: evil,
      name: evil,
      password: 'x',
    });
    expect(page.status).toBe(400);
    const text = await page.text();
    expect(text).not.toContain('<script>');
    expect(text).toContain('&#60;script&#62;');
  });
});
