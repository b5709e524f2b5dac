import { describe, expect, test } from '@jest/globals';
import { sendModern, createWireClient } from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const annotated = {
  type: 'object',
  properties: {
    place: { type: 'string', 'x-mcp-header': 'Place' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
  },
};

describe('headers that repeat arguments, or what somebody else knows', () => {
  const rig = createGatewayRig();

  async function begin(era: 'legacy' | 'modern' = 'modern', path = '/mcp/files') {
    const upstream = await rig.startServer({
      era,
      tools: [{ name: 'echo' }, { name: 'placed', inputSchema: annotated }],
    });
    const [ada] = await rig.start(renderYaml({ files: httpDefinition(upstream.url) }));
    const client = await createWireClient(ada as TestUser, rig.gateway.url, path);
    const call = (headers: Record<string, string>, name = 'echo', args: object = {}) =>
      sendModern(client, 'tools/call', { name, arguments: args }, { headers });
    /** What the server was sent of these with the last call. */
    const readReceived = () =>
      Object.fromEntries(
        Object.entries(upstream.received('tools/call').at(-1)?.headers ?? {}).filter(([name]) =>
          name.startsWith('mcp-param-'),
        ),
      );
    return { upstream, call, readReceived };
  }

  test('also where the argument is null', async () => {
    const { upstream, call } = await begin();
    for (const args of [{}, { count: 7 }, { place: null }]) {
      const right = 'count' in args ? { 'mcp-param-count': '7' } : {};
      const { status, message } = await call({ ...right, 'mcp-param-place': 'eu' }, 'placed', args);
      expect([args, status, message.error?.code]).toEqual([args, 400, -32_020]);
    }
    expect(upstream.received('tools/call')).toHaveLength(0);
    expect((await call({}, 'placed', {})).status).toBe(200);
  });

  test('to servers of this era, at both endpoints', async () => {
    for (const path of ['/mcp/files', '/mcp']) {
      const { call, readReceived } = await begin('modern', path);
      const prefix = path === '/mcp' ? 'files__' : '';
      const encoded = `=?base64?${Buffer.from('é').toString('base64')}?=`;
      const sent = { 'mcp-param-zone': 'z 1', 'Mcp-Param-Odd': encoded };
      expect((await call(sent, `${prefix}echo`)).status).toBe(200);
      const passed = { 'mcp-param-zone': 'z 1', 'mcp-param-odd': encoded };
      expect(readReceived()).toEqual(passed);
      const known = { 'mcp-param-place': 'eu' };
      expect((await call({ ...sent, ...known }, `${prefix}placed`, { place: 'eu' })).status).toBe(200);
      expect(readReceived()).toEqual({ ...passed, ...known });
    }
  });

  test('nothing that is none, and no more than there is room for', async () => {
    const { upstream, call, readReceived } = await begin();
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`mcp-param-n${index}`, 'x']));
    const refused = {
      'mcp-param-latin': 'é',
      'mcp-param-long': 'x'.repeat(4_097),
      'x-mcp-param-zone': 'x',
      cookie: 'mcp-param-zone=x',
    };
    expect((await call(refused)).status).toBe(200);
    expect(readReceived()).toEqual({});
    const [request] = upstream.received('tools/call').slice(-1);
    expect(request?.headers).not.toHaveProperty('cookie');
    expect(request?.headers).not.toHaveProperty('x-mcp-param-zone');
    expect((await call(many)).status).toBe(200);
    expect(Object.keys(readReceived())).toHaveLength(32);
  });

  test('to none of the era before, and not by another tool', async () => {
    const { call, readReceived } = await begin('legacy');
    expect((await call({ 'mcp-param-zone': 'x' })).status).toBe(200);
    expect(readReceived()).toEqual({});
    const searched = await begin('modern', '/mcp/files?tools=search');
    const args = { name: 'echo', arguments: {} };
    expect((await searched.call({ 'mcp-param-zone': 'x' }, 'call_tool', args)).status).toBe(200);
    expect(searched.readReceived()).toEqual({});
  });
});
