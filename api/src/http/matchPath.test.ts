import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '@behalf/gateway';
import { httpStatus } from '@behalf/contracts';
import { aPrincipal } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createApp } from './server.ts';
import type { Route } from './route.ts';

describe('paths', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test('both kinds of route know the same spellings', async () => {
    const routes: Route[] = [
      {
        method: 'post',
        path: '/hot/:name/call',
        access: 'caller',
        scope: 'mcp',
        handleFast: async (exchange) => exchange.json(200, JSON.stringify(exchange.params['name'])),
      },
      {
        method: 'post',
        path: '/too/:name/call',
        access: 'signed-in',
        scope: 'mcp',
        handle: (req, res) => void res.json(req.params['name']),
      },
    ];
    const listener = createApp({
      routes,
      admission: { check: () => undefined, checkOrigin: () => undefined, authenticate: () => aPrincipal() },
      headers: {},
      problemOf: (error) => {
        const code = error instanceof GatewayError ? error.code : 'NOT_FOUND';
        return { problem: { status: httpStatus(code) } as never, headers: {} };
      },
      trustProxy: 0,
    });
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    for (const rest of [
      'x/call',
      'x/call/',
      'x/call?a=b',
      'x/CALL',
      'X/call',
      'a%20b/call',
      'a%2Fb/call',
      'a+b/call',
      '%E2%82%AC/call',
      '%zz/call',
      'x/c%61ll',
      '/call',
      'x/y/call',
      'x/call//',
      '..%2Fx/call',
    ]) {
      const [hot, too] = await Promise.all(
        ['hot', 'too'].map(async (kind) => {
          const response = await fetch(`http://127.0.0.1:${port}/${kind}/${rest}`, { method: 'POST' });
          return [response.status, await response.json()];
        }),
      );
      expect([rest, hot]).toEqual([rest, too]);
    }
    const upper = await fetch(`http://127.0.0.1:${port}/HOT/x/call`, { method: 'POST' });
    expect(upper.status).toBe(404);
  });
});
