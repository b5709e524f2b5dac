import { describe, expect, test } from '@jest/globals';
import { modernRequest, wireClient } from './mcpClient.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http, yamlWith } from './serverYaml.ts';

const annotated = {
  type: 'object',
  properties: {
    place: { type: 'string', 'x-mcp-header': 'Place' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
  },
};

describe('headers that repeat arguments, or what somebody else knows', () => {
  const scene = createScene();

  async function begin(era: 'legacy' | 'modern' = 'modern', path = '/mcp/files') {
    const upstream = await scene.serve({
      era,
      tools: [{ name: 'echo' }, { name: 'placed', inputSchema: annotated }],
    });
    const [ada] = await scene.begin(yamlWith({ files: http(upstream.url) }));
    const client = await wireClient(ada as Person, scene.gateway.url, path);
    const call = (headers: Record<string, string>, name = 'echo', args: object = {}) =>
      modernRequest(client, 'tools/call', { name, arguments: args }, { headers });
    /** What the server was sent of these with the last call. */
    const heard = () =>
      Object.fromEntries(
        Object.entries(upstream.received('tools/call').at(-1)?.headers ?? {}).filter(([name]) =>
          name.startsWith('mcp-param-'),
        ),
      );
    return { upstream, call, heard };
  }

  test('also where the argument is null', async () => {
    const { upstream, call } = await begin();
    for (const args of [{}, { count: 7 }, { place: null }]) {
      const right = 'count' in args ? { 'mcp-param-count': '7' } : {};
      const { status, answer } = await call({ ...right, 'mcp-param-place': 'eu' }, 'placed', args);
      expect([args, status, answer.error?.code]).toEqual([args, 400, -32_020]);
    }
    expect(upstream.received('tools/call')).toHaveLength(0);
    expect((await call({}, 'placed', {})).status).toBe(200);
  });

  test('to servers of this era, at both endpoints', async () => {
    for (const path of ['/mcp/files', '/mcp']) {
      const { call, heard } = await begin('modern', path);
      const prefix = path === '/mcp' ? 'files__' : '';
      const encoded = `=?base64?${Buffer.from('é').toString('base64')}?=`;
      const sent = { 'mcp-param-zone': 'z 1', 'Mcp-Param-Odd': encoded };
      expect((await call(sent, `${prefix}echo`)).status).toBe(200);
      const passed = { 'mcp-param-zone': 'z 1', 'mcp-param-odd': encoded };
      expect(heard()).toEqual(passed);
      const known = { 'mcp-param-place': 'eu' };
      expect((await call({ ...sent, ...known }, `${prefix}placed`, { place: 'eu' })).status).toBe(200);
      expect(heard()).toEqual({ ...passed, ...known });
    }
  });

  test('nothing that is none, and no more than there is room for', async () => {
    const { upstream, call, heard } = await begin();
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`mcp-param-n${index}`, 'x']));
    const refused = {
      'mcp-param-latin': 'é',
      'mcp-param-long': 'x'.repeat(4_097),
      'x-mcp-param-zone': 'x',
      cookie: 'mcp-param-zone=x',
    };
    expect((await call(refused)).status).toBe(200);
    expect(heard()).toEqual({});
    const [request] = upstream.received('tools/call').slice(-1);
    expect(request?.headers).not.toHaveProperty('cookie');
    expect(request?.headers).not.toHaveProperty('x-mcp-param-zone');
    expect((await call(many)).status).toBe(200);
    expect(Object.keys(heard())).toHaveLength(32);
  });

  test('to none of the era before, and not by another tool', async () => {
    const { call, heard } = await begin('legacy');
    expect((await call({ 'mcp-param-zone': 'x' })).status).toBe(200);
    expect(heard()).toEqual({});
    const searched = await begin('modern', '/mcp/files?tools=search');
    const args = { name: 'echo', arguments: {} };
    expect((await searched.call({ 'mcp-param-zone': 'x' }, 'call_tool', args)).status).toBe(200);
    expect(searched.heard()).toEqual({});
  });
});
