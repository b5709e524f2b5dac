import { CredentialsView, FlowStatusView, FlowView, Problem } from '@behalf/contracts';
import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAttemptCookies } from '../../api/src/http/cookies.ts';
import { GatewayBrowser, readLocation, createOAuthRig, type OAuthRig } from './oauthRig.ts';

const START = '/api/mcp/files/oauth/start';
const json = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

describe('signing in at a server, over HTTP', () => {
  let rig: OAuthRig;
  let browser: GatewayBrowser;
  beforeAll(async () => {
    rig = await createOAuthRig();
    browser = new GatewayBrowser(rig.gateway.url, rig.ada);
  }, 60_000);
  afterAll(() => rig.close());

  const start = async (from = browser) => FlowView.parse(await json(await from.post(START)));

  /** From our own button to the result page. */
  async function connect(from = browser): Promise<{ flow: FlowView; end: URL }> {
    const flow = await start(from);
    const left = await from.open(flow.connectUrl);
    const back = await from.open(readLocation(left));
    return { flow, end: readLocation(await from.open(readLocation(back))) };
  }

  const statusOf = async (flowId: string, query = '') =>
    FlowStatusView.parse(await json(await rig.ada.get(`/api/mcp/oauth/status/${flowId}${query}`)));

  test('a user connects, calls with their own token, and disconnects', async () => {
    const { ada, as, mcp } = rig;
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
    expect((await rig.bob.call('files', 'echo')).body._meta?.['behalf/auth']).toBeDefined();
    expect(await json(await rig.bob.get('/api/mcp/files/credentials'))).toEqual({ credentials: [] });

    const ended = await json(await ada.post('/api/mcp/files/oauth/disconnect'));
    expect(ended).toEqual({ disconnected: true, revoked: 'yes' });
    expect((await ada.call('files', 'echo')).body._meta?.['behalf/auth']).toMatchObject({
      reason: 'revoked',
    });
    expect(await json(await ada.post('/api/mcp/files/oauth/disconnect'))).toMatchObject({ revoked: 'none' });
  });

  test('reinitialize hands the way out, and is content afterwards', async () => {
    const response = await json(await rig.ada.post('/api/mcp/files/reinitialize'));
    expect(response).toMatchObject({
      oauthRequired: true,
      oauthUrl: expect.stringContaining('/oauth/initiate?flowId='),
    });
    // It was handed out to no browser: the first of its user that asks goes on without a question.
    const joined = await browser.post(START);
    expect([joined.status, (await json(joined))['flowId']]).toEqual([409, response['flowId']]);
    const back = await browser.open(readLocation(await browser.open(String(response['oauthUrl']))));
    expect(readLocation(await browser.open(readLocation(back))).pathname).toBe('/oauth/success');
    const content = await json(await rig.ada.post('/api/mcp/files/reinitialize'));
    expect(content).toMatchObject({
      success: true,
      message: "MCP server 'files' reinitialized successfully",
    });
    await rig.ada.post('/api/mcp/files/oauth/disconnect');
  });

  test('what was begun at one gateway ends at another one', async () => {
    const other = await rig.startReplica();
    try {
      const flow = await start();
      const back = readLocation(await browser.open(readLocation(await browser.open(flow.connectUrl))));
      const { tokenHits } = rig.as.counters;
      const end = readLocation(await browser.withBase(other.url).open(back.pathname + back.search));
      expect([end.pathname, end.searchParams.get('flowId')]).toEqual(['/oauth/success', flow.flowId]);
      expect(rig.as.counters.tokenHits).toBe(tokenHits + 1);
      expect(await statusOf(flow.flowId, '?wait=5000')).toMatchObject({ status: 'COMPLETED', probe: 'ok' });
      await eventually('the first one uses it', async () => {
        return (await rig.ada.call('files', 'echo')).body._meta === undefined;
      });
      expect(rig.mcp.guardedRequests.at(-1)).toMatchObject({ status: 'served' });
      await rig.ada.post('/api/mcp/files/oauth/disconnect');
    } finally {
      await other.close();
    }
  });

  test('a second start is told of the first', async () => {
    const first = await start();
    const second = await browser.post(START);
    expect(second.status).toBe(409);
    expect(Problem.parse(await json(second))).toMatchObject({ code: 'MCP_FLOW_PENDING', ...first });
    expect(await json(await rig.ada.post('/api/mcp/oauth/cancel/files'))).toMatchObject({ success: true });
    expect(await json(await rig.ada.post('/api/mcp/oauth/cancel/files'))).toMatchObject({ success: true });
    expect(await statusOf(first.flowId)).toMatchObject({ status: 'FAILED', error: 'cancelled' });
  });

  test('a link works for its user alone, signed in', async () => {
    const flow = await start();
    const { authorizations } = rig.as.counters;
    const anonymous = await new GatewayBrowser(rig.gateway.url).open(flow.connectUrl);
    expect([anonymous.status, readLocation(anonymous).searchParams.get('returnTo')]).toEqual([
      302,
      new URL(flow.connectUrl).pathname + new URL(flow.connectUrl).search,
    ]);
    const bobs = new GatewayBrowser(rig.gateway.url, rig.bob);
    const refused = await bobs.open(flow.connectUrl);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect(await refused.text()).not.toContain(new URL(rig.as.issuer).host);
    expect((await bobs.open(`${flow.connectUrl}&userId=${rig.bob.id}`)).status).toBe(403);
    expect((await browser.open(`${flow.connectUrl}&userId=${rig.bob.id}`)).status).toBe(403);
    expect(rig.as.counters.authorizations).toBe(authorizations);
    await rig.ada.post('/api/mcp/oauth/cancel/files');
  });

  test('what a program began is asked about in the browser', async () => {
    const key = String(
      (await json(await rig.ada.post('/api/user/keys', { name: 'cli', scopes: ['mcp'] })))['key'],
    );
    const startResponse = await fetch(rig.gateway.url + START, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
    expect([startResponse.status, startResponse.headers.getSetCookie()]).toEqual([201, []]);
    const { connectUrl, flowId } = FlowView.parse(await json(startResponse));
    const response = await browser.open(connectUrl);
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page).toContain('127.0.0.1');
    expect(page).not.toContain('<script');
    const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const path = '/api/mcp/files/oauth/initiate';
    const forged = await browser.submitForm(path, { flowId, token }, 'https://evil.example');
    expect(forged.status).toBe(403);
    expect((await browser.submitForm(path, { flowId, token: 'made up' })).status).toBe(403);
    // No program answers for a person.
    const byKey = await fetch(rig.gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ flowId, token }),
    });
    expect([byKey.status, (await json(byKey))['code']]).toEqual([403, 'API_KEY_SCOPE']);
    const left = await browser.submitForm(path, { flowId, token });
    expect([left.status, readLocation(left).origin]).toEqual([303, rig.as.origin]);
    const back = await browser.open(readLocation(left));
    expect(readLocation(await browser.open(readLocation(back))).pathname).toBe('/oauth/success');
    expect(browser.cookies).not.toContain(`bf-${flowId}`);
    await rig.ada.post('/api/mcp/files/oauth/disconnect');
  });

  test('it always ends in a redirect to a page of ours', async () => {
    const flow = await start();
    const left = await browser.open(flow.connectUrl);
    const callback = readLocation(await browser.open(readLocation(left)));
    const end = async (from: GatewayBrowser, url: URL) => {
      const response = await from.open(url);
      expect([response.status, readLocation(response).pathname]).toEqual([302, '/oauth/error']);
      return Object.fromEntries(readLocation(response).searchParams);
    };
    const other = new URL(callback);
    other.searchParams.set('state', 'unknown');
    expect(await end(browser, other)).toEqual({ error: 'flow_unknown', serverName: 'files' });
    expect(await end(new GatewayBrowser(rig.gateway.url, rig.bob), callback)).toEqual({
      error: 'flow_forbidden',
      serverName: 'files',
    });
    expect(await end(new GatewayBrowser(rig.gateway.url, rig.ada), callback)).toEqual({
      error: 'flow_forbidden',
      serverName: 'files',
    });
    expect(readLocation(await browser.open(callback)).pathname).toBe('/oauth/success');
    await rig.ada.post('/api/mcp/files/oauth/disconnect');
  });

  test('whoever may not use the server any more connects nothing', async () => {
    const { admin, ada } = rig;
    const permissions = { MCP_SERVERS: { USE: false } };
    expect((await admin.post('/api/admin/roles', { name: 'NOBODY', permissions })).status).toBe(201);
    const setRole = (role: string) => admin.send('PATCH', `/api/admin/users/${ada.id}`, { role });
    const flow = await start();
    const callback = readLocation(await browser.open(readLocation(await browser.open(flow.connectUrl))));
    await setRole('NOBODY');
    const { tokenHits } = rig.as.counters;
    expect(readLocation(await browser.open(callback)).searchParams.get('error')).toBe('flow_forbidden');
    expect(rig.as.counters.tokenHits).toBe(tokenHits);
    await setRole('USER');
    expect(readLocation(await browser.open(callback)).pathname).toBe('/oauth/success');
    await ada.post('/api/mcp/files/oauth/disconnect');
  });

  test('who declines is told at once, with the flow', async () => {
    rig.as.change({ consent: 'deny' });
    const flow = await start();
    const waiting = statusOf(flow.flowId, '?wait=20000');
    const back = await browser.open(readLocation(await browser.open(flow.connectUrl)));
    const startedAt = Date.now();
    const end = readLocation(await browser.open(readLocation(back)));
    rig.as.change({ consent: 'approve' });
    expect(Object.fromEntries(end.searchParams)).toEqual({
      error: 'access_denied',
      serverName: 'files',
      flowId: flow.flowId,
    });
    expect(await waiting).toMatchObject({ status: 'FAILED', error: 'access_denied' });
    expect(Date.now() - startedAt).toBeLessThan(1_000);
  });

  test('the cookie of an attempt is for this host, this browser and this attempt', async () => {
    const response = await browser.post(START);
    const { flowId } = FlowView.parse(await json(response));
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(new RegExp(`^bf-${flowId}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Lax; Expires=`));
    await rig.ada.post('/api/mcp/oauth/cancel/files');
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
    const second = new GatewayBrowser(rig.gateway.url, rig.ada);
    expect((await second.open(flow.connectUrl)).status).toBe(200);
    expect(await json(await second.post('/api/mcp/files/oauth/bind'))).toEqual({ success: true });
    expect((await second.open(flow.connectUrl)).status).toBe(302);
    expect((await browser.open(flow.connectUrl)).status).toBe(200);
    await rig.ada.post('/api/mcp/oauth/cancel/files');
  });

  test('the result pages are static, strict, and repeat nothing', async () => {
    for (const path of ['/oauth/success', '/oauth/error?error=access_denied']) {
      const plain = await (await browser.open(path)).text();
      const query = path.includes('?') ? '&' : '?';
      const response = await browser.open(
        `${path}${query}serverName=<b>x&flowId="><script>&returnTo=//evil.example&code=c0de`,
      );
      expect(response.headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      expect(await response.text()).toBe(plain);
    }
    const result = await (await browser.open('/oauth/error?error=%3Cscript%3E')).text();
    expect(result).toContain('The sign-in failed');
    const back = await (await browser.open('/oauth/success?returnTo=/chat/1')).text();
    expect(back).toContain('href="/chat/1"');
    const script = await browser.open('/oauth/result.js');
    expect(script.headers.get('content-type')).toContain('javascript');
    const text = await script.text();
    for (const word of ['BroadcastChannel', 'postMessage(message, location.origin)', 'localStorage', '1500'])
      expect(text).toContain(word);
  });
});

describe('what authorization servers read about us', () => {
  test('the document stands at the address that it names', async () => {
    const base = 'https://behalf.example';
    const rig = await createOAuthRig({}, { PUBLIC_URL: base });
    try {
      for (const path of ['/oauth/client/files.json', '/oauth/client/public/files.json']) {
        const response = await fetch(rig.gateway.url + path);
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
        expect((await fetch(rig.gateway.url + path)).status).toBe(404);
      }
      const { keys } = await json(await fetch(`${rig.gateway.url}/oauth/jwks.json`));
      expect(keys).toEqual([expect.objectContaining({ kty: 'EC', crv: 'P-256', alg: 'ES256' })]);
      expect(JSON.stringify(keys)).not.toContain('"d"');
    } finally {
      await rig.close();
    }
  });
});
