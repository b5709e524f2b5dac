import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '@behalf/gateway';
import { systemClock, systemRandom } from '@behalf/kernel';
import { aPrincipal, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createApp } from './server.ts';
import { createSessionCookie } from './cookies.ts';
import type { FastExchange, Route } from './route.ts';
import { createProblemMap } from './errors.ts';
import { createOrigins } from './origins.ts';
import { createAdmission, createCallerResolver } from './authentication.ts';
import { createEventStream } from './sse.ts';
import { createRateLimits } from './limits.ts';
import { createMatchPath, segmentsOf } from './router.ts';
import { securityHeaders } from './securityHeaders.ts';

const ada = aPrincipal({ userId: 'u1' });
const silent = { error: nothing, warn: nothing, info: nothing, debug: nothing };
function nothing(): void {
  // The log is not looked at here.
}

describe('the hot door', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  /** The same question at a hot route and at one of the framework. */
  async function start(
    handleFast: (exchange: FastExchange) => Promise<void> = async ({ json, body }) => {
      json(200, JSON.stringify({ body: body ?? null }));
    },
  ) {
    const routes: Route[] = [
      { method: 'post', path: '/hot/:name/call', access: 'caller', scope: 'mcp', handleFast },
      {
        method: 'post',
        path: '/plain/:name/call',
        access: 'signed-in',
        scope: 'mcp',
        handle: (req, res) => void res.json({ body: (req.body as unknown) ?? null }),
      },
    ];
    let refuses = false;
    const origins = createOrigins({ PUBLIC_URL: undefined, HOST: '127.0.0.1' }, 1);
    const cookie = () => createSessionCookie(origins);
    const limits = createRateLimits({ clock: systemClock, perMinute: { calls: 1e6, writes: 1e6 } });
    const known = {
      isCached: () => false,
      resolve: async (secret: string) => (secret === 'ada' ? ada : null),
      close: nothing,
    };
    const listener = createApp({
      routes,
      admission: createAdmission({
        resolveCaller: createCallerResolver({
          checkToken: () => undefined,
          sessions: known,
          keys: known,
          bearers: null,
          cookie,
          limits,
          clientAddressOf: () => '127.0.0.1',
        }),
        limits,
        origins: () => origins,
        cookie,
        rejectsWrites: () => refuses,
      }),
      headers: securityHeaders({ https: false }),
      problemOf: createProblemMap({ random: systemRandom, logger: silent }),
      trustProxy: 0,
    });
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const send = (path: string, { headers, ...init }: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { cookie: 'behalf_session=ada', 'x-behalf-csrf': '1', ...(headers as object) },
        ...init,
      });
    return { port, send, refuseWrites: () => (refuses = true) };
  }

  /** These are about documents, and a hot answer is never one. */
  const forDocuments = [
    'cross-origin-opener-policy',
    'cross-origin-resource-policy',
    'origin-agent-cluster',
    'referrer-policy',
    'x-dns-prefetch-control',
    'x-download-options',
    'x-frame-options',
    'x-permitted-cross-domain-policies',
    'x-xss-protection',
  ];

  /** What a caller can tell of an answer. */
  async function seen(response: Response) {
    const headers = Object.fromEntries(response.headers);
    for (const own of ['date', 'content-length', 'connection', 'keep-alive', ...forDocuments])
      Reflect.deleteProperty(headers, own);
    const body = (await response.json()) as Record<string, unknown>;
    return { status: response.status, headers, code: body['code'] };
  }

  test('every refusal is the one of the other routes', async () => {
    const { send, refuseWrites, port } = await start();
    const requests: Record<string, RequestInit> = {
      'no cookie': { headers: { cookie: '' } },
      'a wrong cookie': { headers: { cookie: 'behalf_session=eve' } },
      'a foreign origin': { headers: { 'x-behalf-csrf': '', origin: 'https://evil.example' } },
      'a cookie without a header': { headers: { 'x-behalf-csrf': '' } },
      'a body that is no JSON': { headers: { 'content-type': 'application/json' }, body: '{' },
      'too large a body': {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ a: 'x'.repeat(1_100_000) }),
      },
      'all is well': { headers: { 'content-type': 'application/json' }, body: '{"a":1}' },
    };
    for (const [name, init] of Object.entries(requests)) {
      const [hot, plain] = await Promise.all([send('/hot/x/call', init), send('/plain/x/call', init)]);
      const [ofHot, ofPlain] = [await seen(hot), await seen(plain)];
      expect([name, ofHot.status]).toEqual([name, ofPlain.status]);
      expect(ofHot.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining("default-src 'none'") as unknown,
      });
      expect([name, ofHot.headers]).toEqual([name, ofPlain.headers]);
      expect([name, ofHot.code]).toEqual([name, ofPlain.code]);
    }
    for (const path of ['/hot/x/call', '/plain/x/call']) {
      const status = await new Promise((resolve, reject) => {
        const asking = request(
          { port, path, method: 'POST', headers: { host: 'evil.example', 'x-behalf-csrf': '1' } },
          (response: IncomingMessage) => resolve(response.resume().statusCode),
        );
        asking.on('error', reject).end();
      });
      expect([path, status]).toEqual([path, 421]);
    }
    refuseWrites();
    expect((await send('/hot/x/call')).status).toBe(503);
  });

  test('another method is told which there are', async () => {
    const { send } = await start();
    const response = await send('/hot/x/call', { method: 'PUT' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('an error of our own shows nothing of itself', async () => {
    const { send } = await start(async () => Promise.reject(new Error('planted secret')));
    const response = await send('/hot/x/call');
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('planted');
    const typed = await start(async () =>
      Promise.reject(new GatewayError('MCP_BREAKER_OPEN', { retryAfterMs: 1_500 })),
    );
    const result = await typed.send('/hot/x/call');
    expect([result.status, result.headers.get('retry-after')]).toEqual([503, '2']);
  });

  test('text of another type, or compressed, is not taken for nothing', async () => {
    const { send } = await start();
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      { 'content-type': 'application/jsonp' },
    ]) {
      expect((await send('/hot/x/call', { headers, body: '{"a":1}' })).status).toBe(400);
    }
    expect(await (await send('/hot/x/call')).json()).toEqual({ body: null });
  });

  test('a body without a length stops at the limit too', async () => {
    const { send } = await start();
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // Beyond the limit and without an end.
        if (sent > 20) await new Promise(() => undefined);
        sent += 1;
        controller.enqueue(new Uint8Array(64 * 1024).fill(32));
      },
    });
    const init = { headers: { 'content-type': 'application/json' }, body: endless, duplex: 'half' };
    const response = await send('/hot/x/call', init as RequestInit);
    expect(response.status).toBe(413);
    await response.body?.cancel();
  });

  test('segments are decoded, and nothing else matches', () => {
    const pattern = createMatchPath('/api/servers/:server/call');
    const match = (path: string) => pattern(segmentsOf(path));
    expect(match('/api/servers/a%20b%2Fc/call')).toEqual({ server: 'a b/c' });
    expect(match('/api/servers/x/call/')).toEqual({ server: 'x' });
    for (const path of [
      '/api/servers/x',
      '/api/servers//call',
      '/api/servers/x/y/call',
      '/api/servers/%zz/call',
      '/api/servers/x/call//',
      'api/servers/x/call',
    ]) {
      expect([path, match(path)]).toEqual([path, null]);
    }
  });

  test('hints wait for room; the result comes whatever happens', async () => {
    let hinted = 0;
    const big = 'x'.repeat(64 * 1024);
    const { port } = await start(async ({ res }) => {
      const events = createEventStream(res, { clock: noClock, headers: {} });
      for (; hinted < 400; hinted += 1) events.sendIfReady('progress', big);
      events.end('result', '{"done":true}');
    });
    const text = await new Promise<string>((resolve, reject) => {
      const asking = request(
        {
          port,
          path: '/hot/x/call',
          method: 'POST',
          headers: { cookie: 'behalf_session=ada', 'x-behalf-csrf': '1' },
        },
        (response) => {
          let read = '';
          // Nothing is read before everything was written.
          eventually('all hints', () => hinted === 400).then(() => {
            response.setEncoding('utf8').on('data', (chunk: string) => (read += chunk));
            response.on('end', () => resolve(read));
          }, reject);
        },
      );
      asking.on('error', reject).end();
    });
    expect(text.length).toBeLessThan(400 * big.length);
    expect(text.endsWith('event: result\ndata: {"done":true}\n\n')).toBe(true);
  });
});

const noClock = { now: () => 0, timer: () => nothing };
