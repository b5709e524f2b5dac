import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startFlow } from './credentials.ts';

const flow = {
  flowId: 'f1',
  connectUrl: 'http://localhost/api/mcp/mail/oauth/initiate?flowId=f1',
  expiresAt: 9,
  label: 'default',
};
const requests: string[] = [];
let answers: Readonly<Record<string, readonly [number, object]>> = {};
let server: Server;
const pageFetch = globalThis.fetch;

beforeAll(async () => {
  server = createServer((req, res) => {
    const what = `${req.method} ${req.url}`;
    requests.push(what);
    const [status, body] = answers[what] ?? [404, { code: 'NOT_FOUND' }];
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // A page knows its own origin.
  globalThis.fetch = (path, init) => pageFetch(new URL(path as string, `http://127.0.0.1:${port}`), init);
});
beforeEach(() => void requests.splice(0));
afterAll(() => {
  globalThis.fetch = pageFetch;
  server.closeAllConnections();
  server.close();
});

const start = 'POST /api/mcp/my%20mail/oauth/start';
const bind = 'POST /api/mcp/my%20mail/oauth/bind';
const pending = { code: 'MCP_FLOW_PENDING', title: 'x', detail: 'x', ...flow };

describe('beginning a sign-in at a server', () => {
  test('gives the one that was begun', async () => {
    answers = { [start]: [201, flow] };
    expect(await startFlow('my mail', {})).toEqual(flow);
    expect(requests).toEqual([start]);
  });

  test('joins the one that another window began, in this browser', async () => {
    answers = { [start]: [409, pending], [bind]: [200, {}] };
    expect(await startFlow('my mail', {})).toEqual(flow);
    expect(requests).toEqual([start, bind]);
    answers = { [start]: [409, pending] };
    expect(await startFlow('my mail', {})).toEqual(flow);
  });

  test('does not join the one for another credential', async () => {
    answers = { [start]: [409, { ...pending, label: 'work' }], [bind]: [200, {}] };
    await expect(startFlow('my mail', { label: 'home' })).rejects.toMatchObject({ code: 'MCP_FLOW_PENDING' });
    expect(requests).toEqual([start]);
    expect(await startFlow('my mail', { label: 'work' })).toEqual({ ...flow, label: 'work' });
  });

  test('joins nothing where it is not told what', async () => {
    answers = { [start]: [409, { ...pending, connectUrl: undefined }] };
    await expect(startFlow('my mail', {})).rejects.toMatchObject({ code: 'MCP_FLOW_PENDING' });
    answers = { [start]: [409, { ...pending, code: 'MCP_FLOW_USED' }] };
    await expect(startFlow('my mail', {})).rejects.toMatchObject({ code: 'MCP_FLOW_USED' });
    expect(requests).toEqual([start, start]);
  });
});
