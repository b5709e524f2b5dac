import { CredentialsView, FlowStatusView, FlowView, Problem } from '@behalf/contracts';
import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAttemptCookies } from '../../api/src/oauth/attemptCookies.ts';
import { Browser, locationOf, oauthScene, type OAuthScene } from './oauthScene.ts';

const START = '/api/mcp/files/oauth/start';
const json = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

describe('signing in at a server, over HTTP', () => {
  let scene: OAuthScene;
  let browser: Browser;
  beforeAll(async () => {
    scene = await oauthScene();
    browser = new Browser(scene.gateway.url, scene.ada);
  }, 60_000);
  afterAll(() => scene.close());

  const start = async (from = browser) => FlowView.parse(await json(await from.post(START)));

  /** From our own button to the result page. */
  async function connect(from = browser): Promise<{ flow: FlowView; end: URL }> {
    const flow = await start(from);
    const left = await from.go(flow.connectUrl);
    const back = await from.go(locationOf(left));
    return { flow, end: locationOf(await from.go(locationOf(back))) };
  }

  const statusOf = async (flowId: string, query = '') =>
    FlowStatusView.parse(await json(await scene.ada.get(`/api/mcp/oauth/status/${flowId}${query}`)));

  test('a user connects, calls with their own token, and disconnects', async () => {
    const { ada, as, mcp } = scene;
    const before = await ada.call('files', 'echo');
    expect(before.body._meta?.['behalf/auth']).toMatchObject({ code: 'needs_reauth', server: 'files' });
    const { flow, end } = await connect();
    expect(end.pathname).toBe('/oauth/success');
    expect(end.searchParams.get('flowId')).toBe(flow.flowId);
    expect(await statusOf(flow.flowId)).toMatchObject({ status: 'COMPLETED', probe: 'ok' });
    expect(await ada.call('files', 'echo')).toMatchObject({
      status: 200,
      body: { content: expect.anything() },
    });
    expect(mcp.guardedRequests.at(-1)).toMatchObject({ status: 'served', token: { resource: mcp.url } });

    const { credentials } = CredentialsView.parse(await json(await ada.get('/api/mcp/files/credentials')));
    expect(credentials).toEqual([
      expect.objectContaining({ label: 'default', status: 'active', isDefault: true, issuer: as.issuer }),
    ]);
    // Bob has none of it.
    expect((await scene.bob.call('files', 'echo')).body._meta?.['behalf/auth']).toBeDefined();
    expect(await json(await scene.bob.get('/api/mcp/files/credentials'))).toEqual({ credentials: [] });

    const ended = await json(await ada.post('/api/mcp/files/oauth/disconnect'));
    expect(ended).toEqual({ disconnected: true, revoked: 'yes' });
    expect((await ada.call('files', 'echo')).body._meta?.['behalf/auth']).toMatchObject({
      reason: 'revoked',
    });
    expect(await json(await ada.post('/api/mcp/files/oauth/disconnect'))).toMatchObject({ revoked: 'none' });
  });

  test('reinitialize hands the way out, and is content afterwards', async () => {
    const asked = await json(await scene.ada.post('/api/mcp/files/reinitialize'));
    expect(asked).toMatchObject({
      oauthRequired: true,
      oauthUrl: expect.stringContaining('/oauth/initiate?flowId='),
    });
    // It was handed out to no browser: the first of its user that asks goes on without a question.
    const joined = await browser.post(START);
    expect([joined.status, (await json(joined))['flowId']]).toEqual([409, asked['flowId']]);
    const back = await browser.go(locationOf(await browser.go(String(asked['oauthUrl']))));
    expect(locationOf(await browser.go(locationOf(back))).pathname).toBe('/oauth/success');
    const content = await json(await scene.ada.post('/api/mcp/files/reinitialize'));
    expect(content).toMatchObject({
      success: true,
      message: "MCP server 'files' reinitialized successfully",
    });
    await scene.ada.post('/api/mcp/files/oauth/disconnect');
  });

  test('what was begun at one gateway ends at another one', async () => {
    const other = await scene.beside();
    try {
      const flow = await start();
      const back = locationOf(await browser.go(locationOf(await browser.go(flow.connectUrl))));
      const { tokenHits } = scene.as.counters;
      const end = locationOf(await browser.at(other.url).go(back.pathname + back.search));
      expect([end.pathname, end.searchParams.get('flowId')]).toEqual(['/oauth/success', flow.flowId]);
      expect(scene.as.counters.tokenHits).toBe(tokenHits + 1);
      expect(await statusOf(flow.flowId, '?wait=5000')).toMatchObject({ status: 'COMPLETED', probe: 'ok' });
      await eventually('the first one uses it', async () => {
        return (await scene.ada.call('files', 'echo')).body._meta === undefined;
      });
      expect(scene.mcp.guardedRequests.at(-1)).toMatchObject({ status: 'served' });
      await scene.ada.post('/api/mcp/files/oauth/disconnect');
    } finally {
      await other.close();
    }
  });

  test('a second start is told of the first', async () => {
    const first = await start();
    const second = await browser.post(START);
    expect(second.status).toBe(409);
    expect(Problem.parse(await json(second))).toMatchObject({ code: 'MCP_FLOW_PENDING', ...first });
    expect(await json(await scene.ada.post('/api/mcp/oauth/cancel/files'))).toMatchObject({ success: true });
    expect(await json(await scene.ada.post('/api/mcp/oauth/cancel/files'))).toMatchObject({ success: true });
    expect(await statusOf(first.flowId)).toMatchObject({ status: 'FAILED', error: 'cancelled' });
  });

  test('a link works for its user alone, signed in', async () => {
    const flow = await start();
    const { authorizations } = scene.as.counters;
    const nobody = await new Browser(scene.gateway.url).go(flow.connectUrl);
    expect([nobody.status, locationOf(nobody).searchParams.get('returnTo')]).toEqual([
      302,
      new URL(flow.connectUrl).pathname + new URL(flow.connectUrl).search,
    ]);
    const bobs = new Browser(scene.gateway.url, scene.bob);
    const refused = await bobs.go(flow.connectUrl);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect(await refused.text()).not.toContain(new URL(scene.as.issuer).host);
    expect((await bobs.go(`${flow.connectUrl}&userId=${scene.bob.id}`)).status).toBe(403);
    expect((await browser.go(`${flow.connectUrl}&userId=${scene.bob.id}`)).status).toBe(403);
    expect(scene.as.counters.authorizations).toBe(authorizations);
    await scene.ada.post('/api/mcp/oauth/cancel/files');
  });

  test('what a program began is asked about in the browser', async () => {
    const key = String(
      (await json(await scene.ada.post('/api/user/keys', { name: 'cli', scopes: ['mcp'] })))['key'],
    );
    const begun = await fetch(scene.gateway.url + START, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
    expect([begun.status, begun.headers.getSetCookie()]).toEqual([201, []]);
    const { connectUrl, flowId } = FlowView.parse(await json(begun));
    const asked = await browser.go(connectUrl);
    const page = await asked.text();
    expect(asked.status).toBe(200);
    expect(asked.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page).toContain('127.0.0.1');
    expect(page).not.toContain('<script');
    const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const path = '/api/mcp/files/oauth/initiate';
    const forged = await browser.submit(path, { flowId, token }, 'https://evil.example');
    expect(forged.status).toBe(403);
    expect((await browser.submit(path, { flowId, token: 'made up' })).status).toBe(403);
    // No program answers for a person.
    const byKey = await fetch(scene.gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ flowId, token }),
    });
    expect([byKey.status, (await json(byKey))['code']]).toEqual([403, 'API_KEY_SCOPE']);
    const left = await browser.submit(path, { flowId, token });
    expect([left.status, locationOf(left).origin]).toEqual([303, scene.as.origin]);
    const back = await browser.go(locationOf(left));
    expect(locationOf(await browser.go(locationOf(back))).pathname).toBe('/oauth/success');
    expect(browser.cookies).not.toContain(`bf-${flowId}`);
    await scene.ada.post('/api/mcp/files/oauth/disconnect');
  });

  test('it always ends in a redirect to a page of ours', async () => {
    const flow = await start();
    const left = await browser.go(flow.connectUrl);
    const callback = locationOf(await browser.go(locationOf(left)));
    const end = async (from: Browser, url: URL) => {
      const response = await from.go(url);
      expect([response.status, locationOf(response).pathname]).toEqual([302, '/oauth/error']);
      return Object.fromEntries(locationOf(response).searchParams);
    };
    const other = new URL(callback);
    other.searchParams.set('state', 'unknown');
    expect(await end(browser, other)).toEqual({ error: 'flow_unknown', serverName: 'files' });
    expect(await end(new Browser(scene.gateway.url, scene.bob), callback)).toEqual({
      error: 'flow_forbidden',
      serverName: 'files',
    });
    expect(await end(new Browser(scene.gateway.url, scene.ada), callback)).toEqual({
      error: 'flow_forbidden',
      serverName: 'files',
    });
    expect(locationOf(await browser.go(callback)).pathname).toBe('/oauth/success');
    await scene.ada.post('/api/mcp/files/oauth/disconnect');
  });

  test('whoever may not use the server any more connects nothing', async () => {
    const { admin, ada } = scene;
    const permissions = { MCP_SERVERS: { USE: false } };
    expect((await admin.post('/api/admin/roles', { name: 'NOBODY', permissions })).status).toBe(201);
    const setRole = (role: string) => admin.send('PATCH', `/api/admin/users/${ada.id}`, { role });
    const flow = await start();
    const callback = locationOf(await browser.go(locationOf(await browser.go(flow.connectUrl))));
    await setRole('NOBODY');
    const { tokenHits } = scene.as.counters;
    expect(locationOf(await browser.go(callback)).searchParams.get('error')).toBe('flow_forbidden');
    expect(scene.as.counters.tokenHits).toBe(tokenHits);
    await setRole('USER');
    expect(locationOf(await browser.go(callback)).pathname).toBe('/oauth/success');
    await ada.post('/api/mcp/files/oauth/disconnect');
  });

  test('who declines is told at once, with the flow', async () => {
    scene.as.change({ consent: 'deny' });
    const flow = await start();
    const waiting = statusOf(flow.flowId, '?wait=20000');
    const back = await browser.go(locationOf(await browser.go(flow.connectUrl)));
    const begun = Date.now();
    const end = locationOf(await browser.go(locationOf(back)));
    scene.as.change({ consent: 'approve' });
    expect(Object.fromEntries(end.searchParams)).toEqual({
      error: 'access_denied',
      serverName: 'files',
      flowId: flow.flowId,
    });
    expect(await waiting).toMatchObject({ status: 'FAILED', error: 'access_denied' });
    expect(Date.now() - begun).toBeLessThan(1_000);
  });

  test('the cookie of an attempt is for this host, this browser and this attempt', async () => {
    const response = await browser.post(START);
    const { flowId } = FlowView.parse(await json(response));
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(new RegExp(`^bf-${flowId}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Lax; Expires=`));
    await scene.ada.post('/api/mcp/oauth/cancel/files');
    const set: string[] = [];
    const res = { appendHeader: (_name: string, value: string) => set.push(value) } as never;
    createAttemptCookies({ secure: true }).write(res, { flowId, browserSecret: 's', expiresAt: 0 });
    expect(set).toEqual([
      `__Host-bf-${flowId}=s; Path=/; HttpOnly; SameSite=Lax; Secure; Expires=Thu, 01 Jan 1970 00:00:00 GMT`,
    ]);
  });

  test('binding makes a browser the one that may go on', async () => {
    const nothing = await browser.post('/api/mcp/files/oauth/bind');
    expect(nothing.status).toBe(404);
    const flow = await start(browser);
    const second = new Browser(scene.gateway.url, scene.ada);
    expect((await second.go(flow.connectUrl)).status).toBe(200);
    expect(await json(await second.post('/api/mcp/files/oauth/bind'))).toEqual({ success: true });
    expect((await second.go(flow.connectUrl)).status).toBe(302);
    expect((await browser.go(flow.connectUrl)).status).toBe(200);
    await scene.ada.post('/api/mcp/oauth/cancel/files');
  });

  test('the result pages are static, strict, and repeat nothing', async () => {
    for (const path of ['/oauth/success', '/oauth/error?error=access_denied']) {
      const plain = await (await browser.go(path)).text();
      const query = path.includes('?') ? '&' : '?';
      const response = await browser.go(
        `${path}${query}serverName=<b>x&flowId="><script>&returnTo=//evil.example&code=c0de`,
      );
      expect(response.headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      expect(await response.text()).toBe(plain);
    }
    const told = await (await browser.go('/oauth/error?error=%3Cscript%3E')).text();
    expect(told).toContain('Something went wrong');
    const back = await (await browser.go('/oauth/success?returnTo=/chat/1')).text();
    expect(back).toContain('href="/chat/1"');
    const script = await browser.go('/oauth/result.js');
    expect(script.headers.get('content-type')).toContain('javascript');
    const text = await script.text();
    for (const word of ['BroadcastChannel', 'postMessage(message, location.origin)', 'localStorage', '1500'])
      expect(text).toContain(word);
  });
});

describe('what authorization servers read about us', () => {
  test('the document stands at the address that it names', async () => {
    const base = 'https://behalf.example';
    const scene = await oauthScene({}, { PUBLIC_URL: base });
    try {
      for (const path of ['/oauth/client/files.json', '/oauth/client/public/files.json']) {
        const response = await fetch(scene.gateway.url + path);
        expect(await json(response)).toMatchObject({
          client_id: base + path,
          redirect_uris: [`${base}/api/mcp/files/oauth/callback`],
        });
      }
      for (const path of [
        '/oauth/client/none.json',
        '/oauth/client/files',
        '/oauth/client/files.json.json',
      ]) {
        expect((await fetch(scene.gateway.url + path)).status).toBe(404);
      }
      const { keys } = await json(await fetch(`${scene.gateway.url}/oauth/jwks.json`));
      expect(keys).toEqual([expect.objectContaining({ kty: 'EC', crv: 'P-256', alg: 'ES256' })]);
      expect(JSON.stringify(keys)).not.toContain('"d"');
    } finally {
      await scene.close();
    }
  });
});
