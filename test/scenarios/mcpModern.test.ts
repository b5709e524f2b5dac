import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  META_PREFIX,
  createModernHeaders,
  createModernMeta,
  sendModern,
  readWireMessages,
  createWireClient,
} from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const annotated = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
  },
};
const form = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };

describe('the MCP endpoint, for clients without a session', () => {
  const rig = createGatewayRig();

  async function begin(
    era: 'legacy' | 'modern' = 'modern',
    more: Partial<Parameters<typeof rig.startServer>[0]> = {},
    names: string[] = ['Ada'],
  ) {
    const upstream = await rig.startServer({
      era,
      tools: [{ name: 'echo' }, { name: 'placed', inputSchema: annotated }],
      ...more,
    });
    const users = await rig.start(renderYaml({ files: httpDefinition(upstream.url) }), names);
    const clients = await Promise.all(
      users.map((user) => createWireClient(user, rig.gateway.url, '/mcp/files')),
    );
    return { upstream, clients, client: clients[0]!, person: users[0] as TestUser };
  }

  test('at a server of either era', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const { client } = await begin(era);
      const found = await sendModern(client, 'server/discover');
      expect([found.status, found.message.result]).toMatchObject([
        200,
        {
          resultType: 'complete',
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: { listChanged: true } },
          cacheScope: 'private',
        },
      ]);
      const called = await sendModern(client, 'tools/call', { name: 'echo', arguments: { a: 1 } });
      expect(called.message.result).toMatchObject({
        content: [{ type: 'text', text: '{"a":1}' }],
        resultType: 'complete',
      });
    }
  });

  test('whatever the server said of it', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const { client } = await begin(era, {
        capabilities: { tools: {}, resources: {}, prompts: {} },
        methods: {
          'resources/list': () => ({
            resources: [{ uri: 'x:1', name: 'one' }],
            ttlMs: 5,
            cacheScope: 'public',
          }),
          'resources/read': () => ({ contents: [{ uri: 'x:1', text: '1' }], ttlMs: 5, cacheScope: 'public' }),
          'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
          'prompts/get': () => ({ messages: [], resultType: 'complete', _meta: { mine: 1 } }),
        },
      });
      const info = { [`${META_PREFIX}serverInfo`]: { name: 'behalf' } };
      for (const [method, params, cached] of [
        ['tools/list', {}, true],
        ['resources/list', {}, true],
        ['resources/templates/list', {}, true],
        ['resources/read', { uri: 'x:1' }, true],
        ['prompts/list', {}, true],
        ['prompts/get', { name: 'greet' }, false],
        ['tools/call', { name: 'echo', arguments: {} }, false],
      ] as const) {
        const { message } = await sendModern(client, method, params);
        expect([method, message.result]).toMatchObject([method, { resultType: 'complete', _meta: info }]);
        const scope = message.result?.['cacheScope'];
        expect([method, scope, typeof message.result?.['ttlMs']]).toEqual(
          cached ? [method, 'private', 'number'] : [method, undefined, 'undefined'],
        );
      }
      const prompt = await sendModern(client, 'prompts/get', { name: 'greet' });
      expect(prompt.message.result?.['_meta']).toMatchObject({ mine: 1 });
    }
  });

  test('version and capabilities, with each request', async () => {
    const { client } = await begin();
    const post = async (params: object, version = '2026-07-28') => {
      const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/list' };
      const response = await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list', params }, headers);
      const [message] = await readWireMessages(response);
      return [response.status, message?.error?.code, message?.error?.data];
    };
    expect(await post({})).toMatchObject([400, -32602, undefined]);
    expect(await post({ _meta: {} })).toMatchObject([400, -32602, undefined]);
    expect(await post({ _meta: { [`${META_PREFIX}protocolVersion`]: '2026-07-28' } })).toMatchObject([
      400, -32602,
    ]);
    expect(
      await post({ _meta: createModernMeta({}, { [`${META_PREFIX}protocolVersion`]: 5 }) }),
    ).toMatchObject([400, -32602]);
    for (const level of ['loud', '', 5, null]) {
      const odd = createModernMeta({}, { [`${META_PREFIX}logLevel`]: level });
      expect([level, await post({ _meta: odd })]).toMatchObject([level, [400, -32602]]);
    }
    expect(
      await post({ _meta: createModernMeta({}, { [`${META_PREFIX}logLevel`]: 'notice' }) }),
    ).toMatchObject([200]);
    const future = createModernMeta({}, { [`${META_PREFIX}protocolVersion`]: '2031-01-01' });
    expect(await post({ _meta: future }, '2031-01-01')).toMatchObject([
      400,
      -32022,
      { supported: ['2026-07-28'], requested: '2031-01-01' },
    ]);
    const refused = await sendModern(client, 'tools/list', {}, { headers: { accept: 'application/json' } });
    expect(refused.status).toBe(406);
  });

  test('and what the servers hear is the body', async () => {
    const { client, upstream } = await begin();
    const call = (headers: Record<string, string>, name = 'echo', args: object = {}) =>
      sendModern(client, 'tools/call', { name, arguments: args }, { headers });
    for (const headers of [
      { 'mcp-method': 'tools/list' },
      { 'mcp-name': 'other' },
      { 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-name': '=?base64?!?=' },
      { 'mcp-name': `=?base64?${Buffer.from('other').toString('base64')}?=` },
    ]) {
      const { status, message } = await call(headers);
      expect([headers, status, message.error?.code]).toEqual([headers, 400, -32020]);
    }
    for (const missing of ['mcp-method', 'mcp-name', 'mcp-protocol-version']) {
      const { [missing]: _, ...others } = createModernHeaders('tools/call', { name: 'echo' });
      const params = { name: 'echo', _meta: createModernMeta() };
      const response = await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, others);
      expect([missing, response.status]).toEqual([missing, 400]);
      expect((await readWireMessages(response))[0]?.error?.code).toBe(-32020);
    }
    expect(upstream.received('tools/call')).toHaveLength(0);
    const encoded = { 'mcp-name': `=?base64?${Buffer.from('echo').toString('base64')}?=` };
    expect((await call(encoded)).status).toBe(200);

    const args = { region: 'eu', count: 7 };
    const right = { 'mcp-param-region': 'eu', 'mcp-param-count': '7' };
    expect((await call(right, 'placed', args)).message.result).toBeDefined();
    expect((await call({ ...right, 'mcp-param-count': '7.0' }, 'placed', args)).status).toBe(200);
    expect((await call({ ...right, 'mcp-param-unknown': 'x' }, 'placed', args)).status).toBe(200);
    for (const wrong of [
      { 'mcp-param-region': 'us' },
      { 'mcp-param-count': '8' },
      { 'mcp-param-region': '=?base64?!?=' },
    ]) {
      const { status, message } = await call({ ...right, ...wrong }, 'placed', args);
      expect([wrong, status, message.error?.code]).toEqual([wrong, 400, -32020]);
    }
    expect((await call({ 'mcp-param-region': 'eu' }, 'placed', args)).message.error?.code).toBe(-32020);
    expect((await call({}, 'placed', {})).status).toBe(200);
    const received = upstream.received('tools/call').map(({ headers }) => headers['mcp-param-region']);
    expect(received).toEqual([undefined, 'eu', 'eu', 'eu', undefined]);
  });

  test('nor do those of the other era exist', async () => {
    const { client } = await begin();
    for (const method of [
      'ping',
      'initialize',
      'logging/setLevel',
      'resources/subscribe',
      'nonsense',
      'constructor',
    ]) {
      const { status, message } = await sendModern(client, method);
      expect([method, status, message.error?.code]).toEqual([method, 404, -32601]);
    }
    const listed = await client.post(
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: createModernMeta() } },
      { ...createModernHeaders('tools/list', {}), 'mcp-session-id': 'x', 'last-event-id': 'y' },
    );
    expect([listed.status, listed.headers.get('mcp-session-id')]).toEqual([200, null]);
    const noted = await client.post(
      { jsonrpc: '2.0', method: 'notifications/odd' },
      createModernHeaders('notifications/odd', {}),
    );
    expect([noted.status, await noted.text()]).toEqual([202, '']);
    // Which headers they have, the revision does not say: none is asked for, and what is there has to be right.
    for (const [headers, status] of [
      [{}, 202],
      [{ 'mcp-method': 'notifications/other' }, 400],
    ] as const) {
      const version = { 'mcp-protocol-version': '2026-07-28' };
      const body = { jsonrpc: '2.0', method: 'notifications/odd' };
      expect((await client.post(body, { ...version, ...headers })).status).toBe(status);
    }
  });

  test('the server is told', async () => {
    const { client, upstream } = await begin('legacy', {
      tools: [{ name: 'slow', handler: () => new Promise(() => undefined) }],
    });
    const abortController = new AbortController();
    const calling = sendModern(
      client,
      'tools/call',
      { name: 'slow' },
      { init: { signal: abortController.signal } },
    );
    await eventually('it runs', () => upstream.received('tools/call').length === 1);
    abortController.abort();
    await expect(calling).rejects.toThrow();
    await eventually('it is told', () => upstream.received('notifications/cancelled').length === 1);
  });

  const asking = {
    name: 'asking',
    handler: (_args: object, call: { params: Readonly<Record<string, unknown>> }) =>
      call.params['inputResponses'] === undefined
        ? {
            resultType: 'input_required',
            inputRequests: { one: { method: 'elicitation/create', params: form } },
            requestState: 'the server’s own',
          }
        : {
            content: [
              {
                type: 'text',
                text: JSON.stringify([call.params['inputResponses'], call.params['requestState']]),
              },
            ],
          },
  };
  const capabilities = { elicitation: {} };

  test('with the state that the server gave', async () => {
    const { client } = await begin('modern', { tools: [asking] });
    const response = await sendModern(client, 'tools/call', { name: 'asking' }, { capabilities });
    const { result = {} } = response.message;
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { one: { method: 'elicitation/create' } },
    });
    expect(result).not.toHaveProperty('ttlMs');
    expect(String(result['requestState'])).not.toContain('own');
    const inputResponses = { one: { action: 'accept', content: {} } };
    const retried = { name: 'asking', inputResponses, requestState: result['requestState'] };
    const { message } = await sendModern(client, 'tools/call', retried, { capabilities });
    const [{ text }] = message.result?.['content'] as [{ text: string }];
    expect(JSON.parse(text)).toEqual([inputResponses, 'the server’s own']);
    const unable = await sendModern(client, 'tools/call', { name: 'asking' });
    expect(unable.message.error?.data).toMatchObject({ code: 'MCP_DIALOGUE_UNSUPPORTED' });
  });

  test('for nobody and nothing else', async () => {
    const { clients, client } = await begin('modern', { tools: [asking, { ...asking, name: 'other' }] }, [
      'Ada',
      'Bob',
    ]);
    const bobs = clients[1]!;
    const response = await sendModern(
      client,
      'tools/call',
      { name: 'asking', arguments: { a: 1, b: 2 } },
      { capabilities },
    );
    const requestState = response.message.result?.['requestState'];
    const retry = (params: object, by = client) =>
      sendModern(
        by,
        'tools/call',
        { name: 'asking', arguments: { b: 2, a: 1 }, inputResponses: { one: {} }, requestState, ...params },
        { capabilities },
      );
    expect((await retry({})).message.result).toMatchObject({ resultType: 'complete' });
    for (const [what, trying] of [
      ['another user', retry({}, bobs)],
      ['another tool', retry({ name: 'other' })],
      ['other arguments', retry({ arguments: { a: 1, b: 3 } })],
      ['something else', retry({ requestState: 'x' })],
      ['no text', retry({ requestState: 5 })],
    ] as const) {
      expect([what, (await trying).message.error?.code]).toEqual([what, -32602]);
    }
  });
});
