import { eventually, type ScriptedTool } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { clientWith, legacyClient, modernRequest, wireClient, type WireClient } from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { legacySend, modernSend, through, type Json, type Send } from './searchScene.ts';
import { http, yamlWith } from './serverYaml.ts';

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
  const scene = createScene();

  async function begin(
    era: 'legacy' | 'modern',
    tools: ScriptedTool[],
    more: object = {},
    names: Parameters<typeof scene.begin>[1] = ['Ada'],
  ) {
    const upstream = await scene.serve({ era, tools });
    const people = await scene.begin(yamlWith({ files: http(upstream.url) }, more), names);
    const clients = await Promise.all(people.map((person) => wireClient(person, scene.gateway.url, AT)));
    return { upstream, people, clients, client: clients[0]! };
  }

  async function bothEras(client: WireClient): Promise<Send[]> {
    return [modernSend(client), legacySend(await legacyClient(client))];
  }

  test('and direct ones still work', async () => {
    const { upstream, people, client } = await begin(
      'modern',
      [{ name: 'place', inputSchema }, { name: 'echo' }],
      {},
      [{ name: 'Root', role: 'ADMIN' }],
    );
    const plain = modernSend(await wireClient(people[0] as Person, scene.gateway.url));
    for (const send of await bothEras(client)) {
      const direct = await plain('tools/call', { name: 'files__echo', arguments: { a: 1 } });
      for (const params of [through('files__echo', { a: 1 }), { name: 'files__echo', arguments: { a: 1 } }])
        expect((await send('tools/call', params)).result?.['content']).toEqual(direct.result?.['content']);
      const heard = upstream.received('tools/call').at(-1)?.message?.params;
      expect(heard).toMatchObject({ name: 'echo', arguments: { a: 1 } });
      // What does not fit is told to the model, and reaches no server.
      const before = upstream.received('tools/call').length;
      for (const params of [
        through('files__place', { region: 5 }),
        through('files__place'),
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
      const events = await (await people[0]!.get('/api/admin/audit?kind=call&limit=100')).text();
      return events.includes('"echo"') && !events.includes('call_tool');
    });
  });

  test('and the server hears its own', async () => {
    const { upstream, client } = await begin('modern', [{ name: 'place', inputSchema }]);
    const call = (params: Json, headers: Record<string, string> = {}) =>
      modernRequest(client, 'tools/call', params, { headers });
    expect((await call(through('files__place', { region: 'eu' }))).answer.result).toMatchObject({
      resultType: 'complete',
    });
    expect(upstream.received('tools/call').at(-1)?.headers['mcp-param-region']).toBe('eu');
    const wrong = await call(through('files__place', { region: 'eu' }), { 'mcp-name': 'files__place' });
    expect([wrong.status, wrong.answer.error?.code]).toEqual([400, -32020]);
    const direct = await call({ name: 'files__place', arguments: { region: 'eu' } });
    expect([direct.status, direct.answer.error?.code]).toEqual([400, -32020]);
    expect(upstream.received('tools/call')).toHaveLength(1);
  });

  test('and runs once it is approved', async () => {
    const more = { endpoints: { agents: { toolApproval: { ask: ['mcp:files:*'] } } } };
    const { upstream, people, client } = await begin('legacy', [{ name: 'risky' }], more);
    for (const [times, send] of (await bothEras(client)).entries()) {
      const params = through('files__risky', { a: times });
      const { error } = await send('tools/call', params);
      expect(error?.data).toMatchObject({ code: 'MCP_APPROVAL_REQUIRED' });
      expect(upstream.received('tools/call')).toHaveLength(times);
      const { id } = error?.data?.['approval'] as { id: string };
      expect((await people[0]!.post(`/api/mcp/approvals/${id}`, { approve: true })).ok).toBe(true);
      const other = await send('tools/call', through('files__risky', { a: 'other' }));
      expect(other.error?.data).toMatchObject({ code: 'MCP_APPROVAL_REQUIRED' });
      expect((await send('tools/call', params)).result).toMatchObject(text({ a: times }));
      expect((await send('tools/call', params)).error?.data).toMatchObject({ code: 'MCP_APPROVAL_REQUIRED' });
      expect(upstream.received('tools/call')).toHaveLength(times + 1);
    }
  });

  const asksBack = (name: string): ScriptedTool => ({
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
      ['modern', asksBack],
      ['legacy', waits],
    ] as const) {
      const { upstream, clients } = await begin(era, ['asking', 'other', 'call_tool'].map(tool), {}, [
        'Ada',
        'Bob',
      ]);
      const [ada, bob] = clients as [WireClient, WireClient];
      const call = (by: WireClient, params: Json) =>
        modernRequest(by, 'tools/call', params, { capabilities });
      const asked = through('files__asking', { a: 1 });
      const { result = {} } = (await call(ada, asked)).answer;
      expect([era, result]).toMatchObject([
        era,
        { resultType: 'input_required', inputRequests: { q1: { method: 'elicitation/create' } } },
      ]);
      const retry = { inputResponses: { q1: accepted }, requestState: result['requestState'] };
      // The same words where there is no search are a tool of the server, and another matter.
      const words = through('asking', { a: 1 });
      const there = (await call(wireOf(ada, '/mcp/files?tools=search'), words)).answer.result ?? {};
      const state = { inputResponses: { q1: accepted }, requestState: there['requestState'] };
      expect(typeof state.requestState).toBe('string');
      for (const [what, trying] of [
        ['another user', call(bob, { ...asked, ...retry })],
        ['another tool', call(ada, { ...through('files__other', { a: 1 }), ...retry })],
        ['other arguments', call(ada, { ...through('files__asking', { a: 2 }), ...retry })],
        ['the tool itself', call(ada, { name: 'files__asking', arguments: { a: 1 }, ...retry })],
        ['without a search', call(wireOf(ada, '/mcp/files'), { ...words, ...state })],
      ] as const)
        expect([era, what, (await trying).answer.error?.code]).toEqual([era, what, -32602]);
      const { answer } = await call(ada, { ...asked, ...retry });
      const replies = era === 'modern' ? [{ q1: accepted }, 'its own'] : [accepted];
      expect([era, answer.result]).toMatchObject([era, text([{ a: 1 }, ...replies])]);
      expect(upstream.received('tools/call')).toHaveLength(era === 'modern' ? 3 : 2);
    }
  });

  /** The same client at another address. */
  const wireOf = ({ headers }: WireClient, path: string): WireClient =>
    clientWith(headers['authorization']!.slice('Bearer '.length), scene.gateway.url, path);

  test('a client with a session is asked on the stream of its call', async () => {
    for (const [era, tool] of [
      ['modern', asksBack],
      ['legacy', waits],
    ] as const) {
      const { client } = await begin(era, [tool('asking')]);
      const session = await legacyClient(client, { capabilities });
      const posted = {
        jsonrpc: '2.0',
        id: 7,
        method: 'tools/call',
        params: through('files__asking', { a: 1 }),
      };
      const stream = readStream(await session.post(posted));
      await eventually('it is asked', () => stream.messages.length === 1);
      const { id, method } = stream.messages[0]!;
      expect([era, method]).toEqual([era, 'elicitation/create']);
      expect((await session.post({ jsonrpc: '2.0', id, result: accepted })).status).toBe(202);
      await eventually('it is answered', () => stream.ended);
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
    const told = await modernRequest(client, 'tools/call', through('files__quick'), { meta });
    expect(told.before).toMatchObject([{ params: { progressToken: 'mine', progress: 1, total: 2 } }]);
    const cancelled = () => upstream.received('notifications/cancelled').length;
    const leaving = new AbortController();
    const left = modernRequest(client, 'tools/call', through('files__working'), {
      init: { signal: leaving.signal },
    });
    await eventually('it runs', () => upstream.received('tools/call').length === 2);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await eventually('the server is told', () => cancelled() === 1);
    const session = await legacyClient(client);
    const params = { ...through('files__working'), _meta: meta };
    const stream = readStream(await session.post({ jsonrpc: '2.0', id: 9, method: 'tools/call', params }));
    await eventually('there is progress', () => stream.messages.length === 1);
    expect(stream.messages[0]).toMatchObject({ params: { progressToken: 'mine', progress: 1 } });
    expect((await session.notify('notifications/cancelled', { requestId: 9 })).status).toBe(202);
    await eventually('the server is told', () => cancelled() === 2);
  });

  test('where its user must connect first, in the form of the client', async () => {
    const upstream = await scene.serve({ era: 'legacy', tools: [{ name: 'echo' }] });
    const [ada] = (await scene.begin(yamlWith({ signed: http(upstream.url, { requiresOAuth: true }) }))) as [
      Person,
    ];
    const client = await wireClient(ada, scene.gateway.url, AT);
    const pages = { elicitation: { url: {} } };
    const params = through('signed__echo');
    const first =
      (await modernRequest(client, 'tools/call', params, { capabilities: pages })).answer.result ?? {};
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
      (await modernRequest(client, 'tools/call', retry, { capabilities: pages })).answer.result,
    ).toMatchObject({ resultType: 'input_required' });
    const legacy = await legacyClient(client, { capabilities: pages });
    expect((await legacy.request('tools/call', params)).answer.error?.code).toBe(-32042);
    expect((await modernRequest(client, 'tools/call', params)).answer.result).toMatchObject({
      isError: true,
      _meta: { 'behalf/auth': { server: 'signed' } },
    });
  });
});
