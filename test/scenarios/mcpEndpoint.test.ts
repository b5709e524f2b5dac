import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  createLegacyClient,
  createModernHeaders,
  createModernMeta,
  sendModern,
  createWireClient,
} from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };

describe('the door of the MCP endpoint', () => {
  const rig = createGatewayRig();

  async function begin(more: object = {}, server: object = {}) {
    const upstream = await rig.startServer({
      era: 'legacy',
      tools: [{ name: 'echo' }, { name: 'read', inputSchema: schema }],
      ...more,
    });
    const users = await rig.start(renderYaml({ files: httpDefinition(upstream.url, server) }), [
      { name: 'Ada', role: 'ADMIN' },
    ]);
    const [ada] = users as [TestUser];
    return { upstream, ada, client: await createWireClient(ada, rig.gateway.url, '/mcp/files') };
  }

  const params = { name: 'echo', _meta: createModernMeta() };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const callHeaders = createModernHeaders('tools/call', params);

  test('nor does nothing at all', async () => {
    const { ada, upstream } = await begin();
    const headers = { ...callHeaders, accept: '*/*', 'content-type': 'application/json' };
    const body = JSON.stringify(call);
    const url = `${rig.gateway.url}/mcp/files`;
    for (const presented of [
      {},
      { cookie: ada.cookie, 'x-behalf-csrf': '1' },
      { authorization: 'Bearer x' },
    ]) {
      const refused = await fetch(url, { method: 'POST', body, headers: { ...headers, ...presented } });
      expect([refused.status, await refused.json()]).toMatchObject([
        401,
        { jsonrpc: '2.0', id: null, error: { code: -31401 } },
      ]);
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer/);
      const got = await fetch(url, { headers: { ...headers, ...presented } });
      expect(got.status).toBe(401);
    }
    expect(upstream.received('tools/call')).toHaveLength(0);
  });

  test('before it is asked who it is', async () => {
    const { client, upstream } = await begin();
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const init = method === 'POST' ? { body: JSON.stringify(call) } : {};
        const refused = await client.send(method, { ...callHeaders, origin }, init);
        expect([origin, method, refused.status]).toEqual([origin, method, 403]);
      }
    }
    expect(upstream.received('tools/call')).toHaveLength(0);
    const own = await client.post(call, { ...callHeaders, origin: new URL(rig.gateway.url).origin });
    expect(own.status).toBe(200);
  });

  test('with a status', async () => {
    const { client, upstream } = await begin();
    for (const [body, status, code] of [
      ['{', 400, -32700],
      ['', 400, -32600],
      ['5', 400, -32600],
      ['"x"', 400, -32600],
      ['[]', 400, -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600],
      ['{"jsonrpc":"2.0","id":1,"method":5}', 400, -32600],
      ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32600],
      ['{"jsonrpc":"2.0","id":1,"result":5}', 400, -32600],
      ['{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32600],
      ['{"jsonrpc":"2.0","id":1,"method":"initialize"}', 400, -32602],
      [`"${'x'.repeat(1024 * 1024)}"`, 413, -31413],
    ] as const) {
      const refused = await client.post(body);
      const { error } = (await refused.json()) as { error: { code: number } };
      expect([body.slice(0, 60), refused.status, error.code]).toEqual([body.slice(0, 60), status, code]);
    }
    const typed = await client.post('{}', { 'content-type': 'text/plain' });
    expect(typed.status).toBe(400);
    expect((await client.send('PUT', {}, { body: '{}' })).status).toBe(405);
    expect(upstream.received('tools/call')).toHaveLength(0);
  });

  test('and nothing is sent', async () => {
    const { client, upstream } = await begin();
    const legacy = await createLegacyClient(client);
    const answers = [
      (await sendModern(client, 'tools/call', { name: 'read', arguments: { path: 5 } })).message,
      (await legacy.request('tools/call', { name: 'read', arguments: {} })).message,
    ];
    for (const { result } of answers) {
      expect(result).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining('path') as unknown }],
        _meta: { 'behalf/error': { code: 'MCP_ARGUMENTS_INVALID' } },
      });
    }
    expect(upstream.received('tools/call')).toHaveLength(0);
    for (const params of [{}, { name: 5 }, { name: 'read', arguments: [] }]) {
      expect((await legacy.request('tools/call', params)).message.error?.code).toBe(-32602);
    }
  });

  test('in either era, in the message and not in the status', async () => {
    const { client, upstream } = await begin();
    const legacy = await createLegacyClient(client);
    await legacy.request('tools/list');
    upstream.change({
      respond: ({ message }) => (message?.method === 'tools/call' ? { status: 503 } : undefined),
    });
    const expected = { code: -31502, data: { code: 'MCP_OUTCOME_UNCERTAIN' } };
    const one = await legacy.request('tools/call', { name: 'echo' });
    const two = await sendModern(client, 'tools/call', { name: 'echo' });
    expect([one.status, one.message.error]).toMatchObject([200, expected]);
    expect([two.status, two.message.error]).toMatchObject([200, expected]);
    expect((await legacy.request('nonsense')).message.error?.code).toBe(-32601);
  });

  test('under the name of the door', async () => {
    const { ada } = await begin();
    const all = await createWireClient(ada, rig.gateway.url);
    await sendModern(all, 'tools/call', { name: 'files__echo', arguments: { secret: 'planted' } });
    await sendModern(all, 'tools/call', { name: 'files__nothing' });
    let events: Record<string, unknown>[] = [];
    await eventually('it is written down', async () => {
      const found = await ada.get('/api/admin/audit?action=tool.call');
      ({ events } = (await found.json()) as { events: typeof events });
      return events.length > 0;
    });
    expect(events).toContainEqual(
      expect.objectContaining({
        door: 'mcp',
        server: 'files',
        tool: 'echo',
        outcome: 'ok',
        arguments: ['secret'],
      }),
    );
    expect(JSON.stringify(events)).not.toContain('planted');
    const metrics = await (await ada.get('/metrics')).text();
    expect(metrics).toMatch(/door="mcp"[^\n]*outcome="ok"/);
  });
});
