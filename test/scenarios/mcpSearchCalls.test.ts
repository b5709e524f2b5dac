import { eventually, type ScriptedTool } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  createKeyClient,
  createLegacyClient,
  sendModern,
  createWireClient,
  type WireClient,
} from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import {
  createLegacySend,
  createModernSend,
  callThroughSearch,
  type JsonObject,
  type SendMcp,
} from './searchClient.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const AT = '/mcp?tools=search';
const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const form = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
const capabilities = { elicitation: {} };
const accepted = { action: 'accept', content: { name: 'Ada' } };

const inputSchema = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  required: ['region'],
};

describe('calls through call_tool', () => {
  const rig = createGatewayRig();

  async function begin(
    era: 'legacy' | 'modern',
    tools: ScriptedTool[],
    more: object = {},
    names: Parameters<typeof rig.start>[1] = ['Ada'],
  ) {
    const upstream = await rig.startServer({ era, tools });
    const users = await rig.start(renderYaml({ files: httpDefinition(upstream.url) }, more), names);
    const clients = await Promise.all(users.map((user) => createWireClient(user, rig.gateway.url, AT)));
    return { upstream, users, clients, client: clients[0]! };
  }

  async function bothEras(client: WireClient): Promise<SendMcp[]> {
    return [createModernSend(client), createLegacySend(await createLegacyClient(client))];
  }

  test('and direct ones still work', async () => {
    const { upstream, users, client } = await begin(
      'modern',
      [{ name: 'place', inputSchema }, { name: 'echo' }],
      {},
      [{ name: 'Root', role: 'ADMIN' }],
    );
    const plain = createModernSend(await createWireClient(users[0] as TestUser, rig.gateway.url));
    for (const send of await bothEras(client)) {
      const direct = await plain('tools/call', { name: 'files__echo', arguments: { a: 1 } });
      for (const params of [
        callThroughSearch('files__echo', { a: 1 }),
        { name: 'files__echo', arguments: { a: 1 } },
      ])
        expect((await send('tools/call', params)).result?.['content']).toEqual(direct.result?.['content']);
      const forwardedParams = upstream.received('tools/call').at(-1)?.message?.params;
      expect(forwardedParams).toMatchObject({ name: 'echo', arguments: { a: 1 } });
      // What does not fit is told to the model, and reaches no server.
      const before = upstream.received('tools/call').length;
      for (const params of [
        callThroughSearch('files__place', { region: 5 }),
        callThroughSearch('files__place'),
        { name: 'call_tool' },
        { name: 'call_tool', arguments: { arguments: {} } },
        { name: 'call_tool', arguments: { name: 5 } },
        { name: 'call_tool', arguments: { name: 'files__echo', arguments: 'text' } },
        { name: 'call_tool', arguments: { name: 'files__echo', a: 1 } },
      ]) {
        const { result } = await send('tools/call', params);
        expect([params, result]).toMatchObject([
          params,
          { isError: true, _meta: { 'behalf/error': { code: 'MCP_ARGUMENTS_INVALID' } } },
        ]);
      }
      expect(upstream.received('tools/call')).toHaveLength(before);
    }
    await eventually('it is written down under its own name', async () => {
      const events = await (await users[0]!.get('/api/admin/audit?kind=call&limit=100')).text();
      return events.includes('"echo"') && !events.includes('call_tool');
    });
  });

  test('and the server hears its own', async () => {
    const { upstream, client } = await begin('modern', [{ name: 'place', inputSchema }]);
    const call = (params: JsonObject, headers: Record<string, string> = {}) =>
      sendModern(client, 'tools/call', params, { headers });
    expect((await call(callThroughSearch('files__place', { region: 'eu' }))).message.result).toMatchObject({
      resultType: 'complete',
    });
    expect(upstream.received('tools/call').at(-1)?.headers['mcp-param-region']).toBe('eu');
    const wrong = await call(callThroughSearch('files__place', { region: 'eu' }), {
      'mcp-name': 'files__place',
    });
    expect([wrong.status, wrong.message.error?.code]).toEqual([400, -32020]);
    const direct = await call({ name: 'files__place', arguments: { region: 'eu' } });
    expect([direct.status, direct.message.error?.code]).toEqual([400, -32020]);
    expect(upstream.received('tools/call')).toHaveLength(1);
  });

  test('and runs once it is approved', async () => {
    const more = { endpoints: { agents: { toolApproval: { ask: ['mcp:files:*'] } } } };
    const { upstream, users, client } = await begin('legacy', [{ name: 'risky' }], more);
    for (const [times, send] of (await bothEras(client)).entries()) {
      const params = callThroughSearch('files__risky', { a: times });
      const { error } = await send('tools/call', params);
      expect(error?.data).toMatchObject({ code: 'MCP_APPROVAL_REQUIRED' });
      expect(upstream.received('tools/call')).toHaveLength(times);
      const { id } = error?.data?.['approval'] as { id: string };
      expect((await users[0]!.post(`/api/mcp/approvals/${id}`, { approve: true })).ok).toBe(true);
      const other = await send('tools/call', callThroughSearch('files__risky', { a: 'other' }));
      expect(other.error?.data).toMatchObject({ code: 'MCP_APPROVAL_REQUIRED' });
      expect((await send('tools/call', params)).result).toMatchObject(text({ a: times }));
      expect((await send('tools/call', params)).error?.data).toMatchObject({ code: 'MCP_APPROVAL_REQUIRED' });
      expect(upstream.received('tools/call')).toHaveLength(times + 1);
    }
  });

  const createElicitingTool = (name: string): ScriptedTool => ({
    name,
    handler: (args, { params: { inputResponses, requestState } }) =>
      inputResponses === undefined
        ? {
            resultType: 'input_required',
            inputRequests: { q1: { method: 'elicitation/create', params: form } },
            requestState: 'its own',
          }
        : text([args, inputResponses, requestState]),
  });
  const waits = (name: string): ScriptedTool => ({
    name,
    handler: async (args, call) => text([args, (await call.sendRequest('elicitation/create', form)).result]),
  });

  test('a client without a session comes back with the answers', async () => {
    for (const [era, tool] of [
      ['modern', createElicitingTool],
      ['legacy', waits],
    ] as const) {
      const { upstream, clients } = await begin(era, ['asking', 'other', 'call_tool'].map(tool), {}, [
        'Ada',
        'Bob',
      ]);
      const [ada, bob] = clients as [WireClient, WireClient];
      const call = (by: WireClient, params: JsonObject) =>
        sendModern(by, 'tools/call', params, { capabilities });
      const searchCall = callThroughSearch('files__asking', { a: 1 });
      const { result = {} } = (await call(ada, searchCall)).message;
      expect([era, result]).toMatchObject([
        era,
        { resultType: 'input_required', inputRequests: { q1: { method: 'elicitation/create' } } },
      ]);
      const retry = { inputResponses: { q1: accepted }, requestState: result['requestState'] };
      // The same words where there is no search are a tool of the server, and another matter.
      const words = callThroughSearch('asking', { a: 1 });
      const there = (await call(wireOf(ada, '/mcp/files?tools=search'), words)).message.result ?? {};
      const state = { inputResponses: { q1: accepted }, requestState: there['requestState'] };
      expect(typeof state.requestState).toBe('string');
      for (const [what, trying] of [
        ['another user', call(bob, { ...searchCall, ...retry })],
        ['another tool', call(ada, { ...callThroughSearch('files__other', { a: 1 }), ...retry })],
        ['other arguments', call(ada, { ...callThroughSearch('files__asking', { a: 2 }), ...retry })],
        ['the tool itself', call(ada, { name: 'files__asking', arguments: { a: 1 }, ...retry })],
        ['without a search', call(wireOf(ada, '/mcp/files'), { ...words, ...state })],
      ] as const)
        expect([era, what, (await trying).message.error?.code]).toEqual([era, what, -32602]);
      const { message } = await call(ada, { ...searchCall, ...retry });
      const replies = era === 'modern' ? [{ q1: accepted }, 'its own'] : [accepted];
      expect([era, message.result]).toMatchObject([era, text([{ a: 1 }, ...replies])]);
      expect(upstream.received('tools/call')).toHaveLength(era === 'modern' ? 3 : 2);
    }
  });

  /** The same client at another address. */
  const wireOf = ({ headers }: WireClient, path: string): WireClient =>
    createKeyClient(headers['authorization']!.slice('Bearer '.length), rig.gateway.url, path);

  test('a client with a session is asked on the stream of its call', async () => {
    for (const [era, tool] of [
      ['modern', createElicitingTool],
      ['legacy', waits],
    ] as const) {
      const { client } = await begin(era, [tool('asking')]);
      const session = await createLegacyClient(client, { capabilities });
      const posted = {
        jsonrpc: '2.0',
        id: 7,
        method: 'tools/call',
        params: callThroughSearch('files__asking', { a: 1 }),
      };
      const stream = readStream(await session.post(posted));
      await eventually('it is asked', () => stream.messages.length === 1);
      const { id, method } = stream.messages[0]!;
      expect([era, method]).toEqual([era, 'elicitation/create']);
      expect((await session.post({ jsonrpc: '2.0', id, result: accepted })).status).toBe(202);
      await eventually('it is answered', () => stream.isEnded);
      const replies = era === 'modern' ? [{ q1: accepted }, 'its own'] : [accepted];
      expect([era, stream.messages[1]]).toMatchObject([era, { id: 7, result: text([{ a: 1 }, ...replies]) }]);
    }
  });

  test('in both eras', async () => {
    const working: ScriptedTool = {
      name: 'working',
      handler: async (_, call) => {
        call.progress(1, 2);
        return new Promise<never>(() => undefined);
      },
    };
    const quick: ScriptedTool = { name: 'quick', handler: (_, call) => (call.progress(1, 2), text('done')) };
    const { upstream, client } = await begin('legacy', [working, quick]);
    const meta = { progressToken: 'mine' };
    const response = await sendModern(client, 'tools/call', callThroughSearch('files__quick'), { meta });
    expect(response.earlierMessages).toMatchObject([
      { params: { progressToken: 'mine', progress: 1, total: 2 } },
    ]);
    const cancelled = () => upstream.received('notifications/cancelled').length;
    const abortController = new AbortController();
    const left = sendModern(client, 'tools/call', callThroughSearch('files__working'), {
      init: { signal: abortController.signal },
    });
    await eventually('it runs', () => upstream.received('tools/call').length === 2);
    abortController.abort();
    await expect(left).rejects.toThrow();
    await eventually('the server is told', () => cancelled() === 1);
    const session = await createLegacyClient(client);
    const params = { ...callThroughSearch('files__working'), _meta: meta };
    const stream = readStream(await session.post({ jsonrpc: '2.0', id: 9, method: 'tools/call', params }));
    await eventually('there is progress', () => stream.messages.length === 1);
    expect(stream.messages[0]).toMatchObject({ params: { progressToken: 'mine', progress: 1 } });
    expect((await session.notify('notifications/cancelled', { requestId: 9 })).status).toBe(202);
    await eventually('the server is told', () => cancelled() === 2);
  });

  test('where its user must connect first, in the form of the client', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    const [ada] = (await rig.start(
      renderYaml({ signed: httpDefinition(upstream.url, { requiresOAuth: true }) }),
    )) as [TestUser];
    const client = await createWireClient(ada, rig.gateway.url, AT);
    const pages = { elicitation: { url: {} } };
    const params = callThroughSearch('signed__echo');
    const first =
      (await sendModern(client, 'tools/call', params, { capabilities: pages })).message.result ?? {};
    expect(first).toMatchObject({
      resultType: 'input_required',
      inputRequests: { connect: { params: { mode: 'url' } } },
    });
    const retry = {
      ...params,
      requestState: first['requestState'],
      inputResponses: { connect: { action: 'accept' } },
    };
    expect(
      (await sendModern(client, 'tools/call', retry, { capabilities: pages })).message.result,
    ).toMatchObject({ resultType: 'input_required' });
    const legacy = await createLegacyClient(client, { capabilities: pages });
    expect((await legacy.request('tools/call', params)).message.error?.code).toBe(-32042);
    expect((await sendModern(client, 'tools/call', params)).message.result).toMatchObject({
      isError: true,
      _meta: { 'behalf/auth': { server: 'signed' } },
    });
  });
});
