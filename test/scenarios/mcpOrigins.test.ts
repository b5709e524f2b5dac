import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeWith, scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { createAdministrator } from './browser.ts';
import { launchChromium } from './chromium.ts';
import { createEndpointSettings, createTools } from './endpointRig.ts';
import {
  giveConsent,
  createAuthorizationClient,
  CLIENT_REDIRECT_URI,
  type AuthorizationClientRig,
} from './authorizationServerRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createModernHeaders, createModernMeta, createWireClient, type WireClient } from './mcpClient.ts';
import { createUsers, type TestUser } from './users.ts';
import { httpDefinition } from './serverYaml.ts';

const ALLOWED = 'https://inspector.example';
const OTHERS = [
  ...['https://evil.example', 'null', 'http://inspector.example', 'https://inspector.example:8443'],
  ...['https://inspector.example.evil.example', 'https://x.inspector.example', `${ALLOWED},${ALLOWED}`],
];
const SENT = 'authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-param-x, last-event-id';

describe('pages of other sites at the MCP endpoints', () => {
  let upstream: ScriptedHttpServer;
  let gateway: InProcessGateway;
  let authorizationClient: AuthorizationClientRig;
  let browsing: Awaited<ReturnType<typeof createAdministrator>>;
  let bea: TestUser;
  let client: WireClient;
  let settings: (allowedOrigins: readonly string[]) => string;

  beforeAll(async () => {
    upstream = await scriptedHttpServer({ era: 'legacy', tools: createTools('files', ['echo']) });
    settings = (allowedOrigins) =>
      createEndpointSettings({ files: httpDefinition(upstream.url) }, { allowedOrigins }, [], {
        authorizationServer: { enabled: true, registration: { perMinute: 1_000 } },
      });
    gateway = await startInProcess({ RATE_LIMIT_WRITES: '100000' }, settings([ALLOWED]));
    browsing = await createAdministrator(gateway);
    [bea] = (await createUsers(gateway, ['Bea'])) as [TestUser];
    client = await createWireClient(bea, gateway.url);
    authorizationClient = await createAuthorizationClient(gateway.url);
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const preflight = (path: string, method: string, origin: string, headers = SENT) =>
    fetch(gateway.url + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': headers,
      },
    });
  const grants = ({ headers }: Response) =>
    [...headers.keys()].filter((name) => name.startsWith('access-control-')).sort();
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'files__echo', _meta: createModernMeta() },
  };
  const callHeaders = createModernHeaders('tools/call', call.params);
  const open = [
    ['/mcp', 'POST, GET, DELETE'],
    ['/mcp/files', 'POST, GET, DELETE'],
    ['/.well-known/oauth-protected-resource', 'GET'],
    ['/.well-known/oauth-protected-resource/mcp', 'GET'],
    ['/.well-known/oauth-protected-resource/mcp/files', 'GET'],
    ['/.well-known/oauth-authorization-server/as', 'GET'],
    ['/.well-known/openid-configuration/as', 'GET'],
    ['/as/token', 'POST'],
    ['/as/token/revocation', 'POST'],
    ['/as/reg', 'POST'],
  ] as const;

  test('at the endpoints and where tokens come from', async () => {
    for (const [path, methods] of open) {
      const answer = await preflight(path, 'POST', ALLOWED);
      expect([path, answer.status]).toEqual([path, 204]);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'access-control-allow-origin': ALLOWED,
        'access-control-allow-methods': methods,
        'access-control-allow-headers': SENT,
        vary: 'Origin',
      });
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
    const done = await client.post(call, { ...callHeaders, origin: ALLOWED });
    expect([done.status, await done.json()]).toMatchObject([
      200,
      { result: { content: [{ text: 'files echo' }] } },
    ]);
    expect(done.headers.get('access-control-allow-origin')).toBe(ALLOWED);
    expect(done.headers.get('access-control-expose-headers')).toMatch(/Mcp-Session-Id.*WWW-Authenticate/);
    const params = { protocolVersion: '2025-11-25', capabilities: {} };
    const startResponse = await client.post(
      { jsonrpc: '2.0', id: 0, method: 'initialize', params },
      { origin: ALLOWED },
    );
    expect([startResponse.status, startResponse.headers.get('access-control-allow-origin')]).toEqual([
      200,
      ALLOWED,
    ]);
    const session = startResponse.headers.get('mcp-session-id') ?? '';
    const abortController = new AbortController();
    const streaming = await client.send(
      'GET',
      { origin: ALLOWED, 'mcp-session-id': session, accept: 'text/event-stream' },
      { signal: abortController.signal },
    );
    expect([streaming.status, streaming.headers.get('access-control-allow-origin')]).toEqual([200, ALLOWED]);
    abortController.abort();
    // Without a token it is told where to get one.
    const refused = await fetch(client.url, {
      ...{ method: 'POST', body: JSON.stringify(call) },
      headers: { 'content-type': 'application/json', origin: ALLOWED },
    });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, ALLOWED]);
    expect(refused.headers.get('www-authenticate')).toContain('resource_metadata=');
  });

  test('a page signs its user in at our own authorization server', async () => {
    const origin = { origin: ALLOWED };
    const found = await fetch(`${gateway.url}/.well-known/oauth-authorization-server/as`, {
      headers: origin,
    });
    expect([found.status, found.headers.get('access-control-allow-origin')]).toEqual([200, ALLOWED]);
    const registered = await fetch(
      authorizationClient.resolveUrl(authorizationClient.metadata.registration_endpoint),
      {
        ...{ method: 'POST', headers: { ...origin, 'content-type': 'application/json' } },
        body: JSON.stringify({ client_name: 'Inspector', redirect_uris: [CLIENT_REDIRECT_URI] }),
      },
    );
    expect([registered.status, registered.headers.get('access-control-allow-origin')]).toEqual([
      201,
      ALLOWED,
    ]);
    const { client_id: clientId } = (await registered.json()) as { client_id: string };
    const { path, verifier } = authorizationClient.createAuthorizationRequest(clientId);
    const back = await giveConsent(browsing, path, gateway.url);
    const answer = await authorizationClient.requestToken(
      {
        ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: CLIENT_REDIRECT_URI },
        ...{ code: back.searchParams.get('code') ?? '', code_verifier: verifier },
      },
      origin,
    );
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, ALLOWED]);
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const done = await client.post(call, { ...callHeaders, ...origin, authorization: `Bearer ${token}` });
    expect(done.status).toBe(200);
  });

  test('whatever looks like it, and everybody where none is named', async () => {
    const refuseAll = async (origins: readonly string[]) => {
      for (const origin of origins) {
        for (const [path] of open) {
          const answer = await preflight(path, 'POST', origin);
          expect([origin, path, answer.status, grants(answer)]).toEqual([origin, path, 405, []]);
        }
        const refused = await client.post(call, { ...callHeaders, origin });
        expect([origin, refused.status, grants(refused)]).toEqual([origin, 403, []]);
        const token = await authorizationClient.requestToken({ grant_type: 'refresh_token' }, { origin });
        expect([origin, token.status, grants(token)]).toEqual([origin, 403, []]);
      }
    };
    const before = upstream.received('tools/call').length;
    await refuseAll(OTHERS);
    await gateway.reload(settings([]));
    try {
      await refuseAll([ALLOWED]);
    } finally {
      await gateway.reload(settings([ALLOWED]));
    }
    expect(upstream.received('tools/call')).toHaveLength(before);
  });

  test('every other door is as it was, with a cookie or without', async () => {
    const doors = [
      ...['/api/user', '/api/user/keys', '/api/mcp/tools', '/api/mcp/servers', '/api/auth/login', '/as/auth'],
      ...['/api/mcp/servers/files/tools/echo/call', '/health', '/mcp/files/x', '/as/interaction/x', '/'],
    ];
    for (const path of doors) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const response = await preflight(path, method, ALLOWED);
        expect([path, response.status >= 400, grants(response)]).toEqual([path, true, []]);
      }
      const headers = { origin: ALLOWED, cookie: bea.cookie };
      expect([path, grants(await fetch(gateway.url + path, { headers }))]).toEqual([path, []]);
    }
    const write = await fetch(`${gateway.url}/api/user/keys`, {
      ...{ method: 'POST', body: JSON.stringify({ name: 'stolen', scopes: ['mcp'] }) },
      headers: { origin: ALLOWED, cookie: bea.cookie, 'content-type': 'application/json' },
    });
    expect([write.status, grants(write)]).toEqual([403, []]);
    // What makes a request one of our own pages cannot be asked for.
    const response = await preflight(
      '/mcp',
      'POST',
      ALLOWED,
      'x-behalf-csrf, cookie, authorization, x-other',
    );
    expect(response.headers.get('access-control-allow-headers')).toBe('authorization');
  });

  test('at the endpoint, and at the authorization server', async () => {
    const withCookie = { origin: ALLOWED, cookie: bea.cookie, 'x-behalf-csrf': '1' };
    const answer = await fetch(client.url, {
      ...{ method: 'POST', body: JSON.stringify(call) },
      headers: { ...callHeaders, ...withCookie, 'content-type': 'application/json', accept: '*/*' },
    });
    expect(answer.status).toBe(401);
    // Beside a cookie it would be refused as forged: there is none.
    const token = await authorizationClient.requestToken(
      { grant_type: 'refresh_token' },
      { origin: ALLOWED, cookie: bea.cookie },
    );
    expect([token.status, token.headers.get('set-cookie')]).toEqual([400, null]);
    for (const one of [answer, token]) expect(one.headers.get('access-control-allow-credentials')).toBeNull();
  });

  describeWith('chromium', 'in a browser', () => {
    let browser: Browser;
    let site: Server;
    let port: number;
    beforeAll(async () => {
      browser = await launchChromium();
      site = createServer((_req, res) => {
        res.setHeader('content-type', 'text/html');
        res.end('<!doctype html><title>A client</title>');
      });
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      ({ port } = site.address() as AddressInfo);
      await gateway.reload(settings([ALLOWED, `http://localhost:${port}`]));
    }, 60_000);
    afterAll(async () => {
      await browser.close();
      await new Promise((resolve) => site.close(resolve));
    });

    test('reads what it asked for; the same page of another origin does not', async () => {
      const tried = async (origin: string) => {
        const page = await browser.newPage();
        await page.goto(origin);
        const clientOptions = { url: client.url, headers: client.headers, callHeaders, call };
        const said = await page.evaluate(async ({ url, headers, callHeaders: more, call: body }) => {
          const post = async (body: object, extra: object) => {
            try {
              const response = await fetch(url, {
                ...{ method: 'POST', body: JSON.stringify(body) },
                headers: { ...headers, ...extra },
              });
              return [
                response.status,
                await response.text(),
                response.headers.get('mcp-session-id') !== null,
              ];
            } catch {
              return 'refused';
            }
          };
          const params = { protocolVersion: '2025-11-25', capabilities: {} };
          return [
            await post(body, more),
            await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, {}),
          ];
        }, clientOptions);
        await page.close();
        return said;
      };
      expect(await tried(`http://localhost:${port}`)).toEqual([
        [200, expect.stringContaining('files echo'), false],
        [200, expect.stringContaining('2025-11-25'), true],
      ]);
      expect(await tried(`http://127.0.0.1:${port}`)).toEqual(['refused', 'refused']);
    });
  });
});
