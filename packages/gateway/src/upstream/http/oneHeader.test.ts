import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createTestNetwork, scriptedHttpServer, type TestNetwork } from '@behalf/testkit';
import { createCountingBearer, expectFreshTokens } from '../../../test/bearerRig.ts';
import { callHttpTool, createHttpRig, stopHttpRigs, createHttpWiring } from '../../../test/httpRig.ts';
import { withAuthorization } from '../bearer.ts';
import type { Upstream } from '../upstream.ts';

const running: { close(): unknown }[] = [];
afterEach(async () => {
  await stopHttpRigs();
  for (const each of running.splice(0).reverse()) await each.close();
});

/** Each request’s Authorization headers as they stood on the wire: Node's own view keeps the first alone. */
async function rawServer() {
  const seen: { readonly what: string; readonly values: string[] }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const values = request.rawHeaders.filter(
        (_, i) => i % 2 === 1 && request.rawHeaders[i - 1]!.toLowerCase() === 'authorization',
      );
      const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string };
      seen.push({ what: method ?? request.method!, values });
      if (method === 'server/discover') return response.writeHead(404).end();
      if (id === undefined) return response.writeHead(202).end();
      const opened = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name: 'raw', version: '1' },
      };
      const result = method === 'initialize' ? opened : { content: [] };
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.push({ close: () => (server.closeAllConnections(), server.close()) });
  const { port } = server.address() as AddressInfo;
  return { seen, port, url: `http://127.0.0.1:${port}/mcp` };
}

function reach(url: string, ports: readonly number[], names: Record<string, number> = {}) {
  const network: TestNetwork = createTestNetwork(ports, { names });
  running.push(network);
  return createHttpWiring(url, network);
}

describe('a token in a request', () => {
  test('is its only Authorization, hand-shake to farewell', async () => {
    const { seen, port, url } = await rawServer();
    const bearer = createCountingBearer();
    const headers = {
      authorization: 'Bearer a',
      Authorization: 'Basic b',
      AUTHORIZATION: 'c',
      'x-team': 'd',
    };
    const upstream = await reach(url, [port]).open({}, { bearer, headers });
    await callHttpTool(upstream, 'x', {}, { bearer, headers, extraHeaders: { AuthoriZation: 'e' } });
    await upstream.close();
    expect(seen.map(({ what }) => what)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/call',
      'DELETE',
    ]);
    for (const { values } of seen) expect(values).toEqual([expect.stringMatching(/^Bearer t\d$/)]);
  });

  test('leaves other headers, and its source, as they are', () => {
    const headers = { 'x-team': 'blue', authorizations: 'x', authorizatioN: 'y', 'proxy-authoriz': 'z' };
    const before = structuredClone(headers);
    expect(withAuthorization(headers, 't', 'POST', 'https://s.example/mcp')).toEqual({
      'x-team': 'blue',
      authorizations: 'x',
      'proxy-authoriz': 'z',
      authorization: 'Bearer t',
    });
    expect(headers).toEqual(before);
  });

  for (const era of ['legacy', 'modern'] as const) {
    test(`does not follow a ${era} redirect elsewhere`, async () => {
      const otherServer = await scriptedHttpServer({
        era: 'both',
        sessions: false,
        tools: [{ name: 'echo' }],
      });
      running.push(otherServer);
      const server = await scriptedHttpServer({
        era: 'both',
        respond: () => ({ status: 307, headers: { location: 'http://other.example/mcp' } }),
      });
      running.push(server);
      const bearer = createCountingBearer();
      const names = { 'one.example': server.port, 'other.example': otherServer.port };
      const upstream = await reach('http://one.example/mcp', [], names).open({ era }, { bearer });
      await callHttpTool(upstream, 'echo', {}, { bearer });
      expectFreshTokens(server.requests);
      expect(otherServer.requests.length).toBe(server.requests.length);
      for (const { headers } of otherServer.requests) expect(headers.authorization).toBeUndefined();
    });
  }
});

describe('a stateless conversation', () => {
  test('holds on to nothing of whoever opened it', async () => {
    const { open } = await createHttpRig({ era: 'modern', tools: [{ name: 'echo' }] });
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    let upstream: Upstream | undefined;
    async function openAndLeave(): Promise<readonly WeakRef<object>[]> {
      const bearer = createCountingBearer();
      const headers = { authorization: 'Bearer x' };
      upstream = await open({}, { bearer, headers });
      await callHttpTool(upstream, 'echo', {}, { bearer, headers });
      return [new WeakRef(bearer), new WeakRef(headers)];
    }
    const refs = await openAndLeave();
    for (let i = 0; i < 20 && refs.some((ref) => ref.deref()); i += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      gc();
    }
    expect(refs.map((ref) => ref.deref())).toEqual([undefined, undefined]);
    await callHttpTool(upstream!, 'echo');
  });

  test('sends nobody’s token for who brings none', async () => {
    const { server, open } = await createHttpRig({ era: 'modern', tools: [{ name: 'echo' }] });
    const bearer = createCountingBearer();
    const upstream = await open({}, { bearer, headers: { authorization: 'Bearer x' } });
    await callHttpTool(upstream, 'echo', {}, { bearer });
    await callHttpTool(upstream, 'echo');
    expect(server.requests.at(-1)!.headers.authorization).toBeUndefined();
  });
});
