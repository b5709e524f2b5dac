import { eventually, type ScriptedCall, type ScriptedTool } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { atReplica, createLegacyClient, createWireClient, type LegacyClient } from './mcpClient.ts';
import { startInProcess } from './inProcess.ts';
import { readStream } from './mcpStream.ts';
import { createUsers, type TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const form = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
const elicitation = { elicitation: { form: {} } };

describe('calls of clients with a session', () => {
  const rig = createGatewayRig();

  async function begin(
    tools: ScriptedTool[],
    capabilities: object = {},
    era: 'legacy' | 'modern' = 'legacy',
  ) {
    const upstream = await rig.startServer({ era, tools });
    const [ada] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }))) as [TestUser];
    const wire = await createWireClient(ada, rig.gateway.url, '/mcp/files');
    const client = await createLegacyClient(wire, { capabilities: { ...capabilities } });
    return { upstream, ada, client };
  }

  /** The same session at another replica. */
  async function there(ada: TestUser, client: LegacyClient): Promise<LegacyClient> {
    const [other] = (await rig.startReplica([ada])) as [TestUser];
    return atReplica(client, new URL('/', (await other.get('/health')).url).href);
  }

  const post = (
    client: LegacyClient,
    id: number | string,
    name: string,
    meta: object = {},
    init: RequestInit = {},
  ) => client.post({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, _meta: meta } }, {}, init);

  test('whatever token the server was given', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const handler = (_: object, call: ScriptedCall) => {
        for (const step of [1, 2, 2, 1, 3]) call.progress(step, 3);
        return text('done');
      };
      const { client } = await begin([{ name: 'steps', handler }], {}, era);
      const response = await client.request('tools/call', {
        name: 'steps',
        _meta: { progressToken: 'mine' },
      });
      expect(response.earlierMessages).toEqual(
        [1, 2, 3].map((progress) => ({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 'mine', progress, total: 3 },
        })),
      );
      expect(response.message.result).toEqual(text('done'));
      expect((await client.request('tools/call', { name: 'steps' })).earlierMessages).toEqual([]);
    }
  });

  test('by the revision that the session agreed on', async () => {
    const content = [
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///a.md', name: 'a' },
    ];
    const { ada } = await begin([{ name: 'sings', handler: () => ({ content }) }]);
    const wire = await createWireClient(ada, rig.gateway.url, '/mcp/files');
    const kinds = async (version: string) => {
      const { message } = await (
        await createLegacyClient(wire, { version })
      ).request('tools/call', { name: 'sings' });
      return (message.result?.['content'] as { type: string }[]).map(({ type }) => type);
    };
    expect(await kinds('2024-11-05')).toEqual(['text', 'text']);
    expect(await kinds('2025-03-26')).toEqual(['audio', 'text']);
    expect(await kinds('2025-06-18')).toEqual(['audio', 'resource_link']);
  });

  test('and from the usual one on when it set none', async () => {
    const handler = (_: object, call: ScriptedCall) => {
      for (const level of ['debug', 'info', 'error']) call.log(level, level);
      return text('done');
    };
    const { client, ada } = await begin([{ name: 'chatty', handler }]);
    const other = await there(ada, client);
    const levels = async (by: LegacyClient) =>
      (await by.request('tools/call', { name: 'chatty' })).earlierMessages.map(
        ({ params }) => params?.['level'],
      );
    expect(await levels(other)).toEqual(['info', 'error']);
    expect((await client.request('logging/setLevel', { level: 'odd' })).message.error?.code).toBe(-32602);
    expect((await client.request('logging/setLevel', { level: 'error' })).message.result).toEqual({});
    expect(await levels(client)).toEqual(['error']);
    await eventually('the other replica knows', async () => (await levels(other)).length === 1);
  });

  test('and gets no answer', async () => {
    const stuck = { name: 'stuck', handler: () => new Promise<never>(() => undefined) };
    const { client, ada, upstream } = await begin([stuck]);
    const other = await there(ada, client);
    const long = 'x'.repeat(1_000);
    for (const [index, [id, by]] of (
      [
        [0, client],
        [1, other],
        [long, other],
      ] as const
    ).entries()) {
      const running = post(client, id, 'stuck');
      await eventually('it runs', () => upstream.received('tools/call').length === index + 1);
      expect((await by.notify('notifications/cancelled', { requestId: id })).status).toBe(202);
      const ended = await running;
      expect([ended.status, await ended.text()]).toEqual([200, '']);
      await eventually(
        'the server knows',
        () => upstream.received('notifications/cancelled').length === index + 1,
      );
    }
  });

  test('here, or at another replica, and once for each event', async () => {
    const finish: (() => void)[] = [];
    const handler = async (_: object, call: ScriptedCall) => {
      call.progress(1, 2);
      await new Promise<void>((resolve) => finish.push(resolve));
      return text('done');
    };
    const { client, ada, upstream } = await begin([{ name: 'long', handler }]);
    const other = await there(ada, client);
    for (const [round, by] of [client, other].entries()) {
      const abortController = new AbortController();
      const startResponse = await post(
        client,
        round,
        'long',
        { progressToken: 1 },
        { signal: abortController.signal },
      );
      const stream = readStream(startResponse, abortController);
      await eventually('it has begun', () => stream.ids.length === 1);
      stream.close();
      await eventually('it has left', () => stream.isEnded);
      const last = { 'last-event-id': stream.ids[0]! };
      const resumed = readStream(await by.send('GET', last));
      await eventually('the server waits', () => finish.length === round + 1);
      finish[round]!();
      await eventually('the answer comes', () => resumed.messages.length === 1);
      expect(resumed.messages[0]).toMatchObject({ id: round, result: text('done') });
      await eventually('and nothing after it', () => resumed.isEnded);
      expect(upstream.received('notifications/cancelled')).toEqual([]);
    }
    expect((await client.send('GET', { 'last-event-id': 'nonsense' })).status).toBe(400);
  });

  test('what another session heard is not told', async () => {
    const handler = (_: object, call: ScriptedCall) => (call.progress(1), text('secret'));
    const { client, ada } = await begin([{ name: 'long', handler }]);
    const stream = readStream(await post(client, 1, 'long', { progressToken: 1 }));
    await eventually('it is over', () => stream.isEnded);
    const wire = await createWireClient(ada, rig.gateway.url, '/mcp/files');
    const second = await createLegacyClient(wire);
    const [event] = stream.ids;
    expect((await second.send('GET', { 'last-event-id': event! })).status).toBe(400);
    const again = readStream(await client.send('GET', { 'last-event-id': event! }));
    await eventually('its own is', () => again.messages.length === 1);
  });

  const asking: ScriptedTool = {
    name: 'asking',
    handler: async (_, call) => {
      const { result, error } = await call.sendRequest('elicitation/create', form);
      return text(result ?? error);
    },
  };

  test('as a result or as a refusal', async () => {
    const { client, ada } = await begin([asking], elicitation);
    const other = await there(ada, client);
    const answers = [{ result: { action: 'accept', content: {} } }, { error: { code: -1, message: 'No' } }];
    for (const [round, by] of [client, other].entries()) {
      const stream = readStream(await post(client, round, 'asking'));
      await eventually('it is asked', () => stream.messages.length === 1);
      const { id, method } = stream.messages[0]!;
      expect(method).toBe('elicitation/create');
      const answer = answers[round]!;
      expect((await by.post({ jsonrpc: '2.0', id, ...answer })).status).toBe(202);
      await eventually('it is answered', () => stream.isEnded);
      expect(stream.messages[1]).toMatchObject({ id: round, result: text(answer.result ?? answer.error) });
    }
    const plain = await client.post(
      { jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'asking' } },
      { accept: 'application/json' },
    );
    expect(await plain.json()).toMatchObject({ id: 9, result: { content: [{ type: 'text' }] } });
  });

  test('of nobody else, and made up', async () => {
    const { client, ada } = await begin([asking], elicitation);
    const second = await createLegacyClient(await createWireClient(ada, rig.gateway.url, '/mcp/files'));
    const stream = readStream(await post(client, 1, 'asking'));
    await eventually('it is asked', () => stream.messages.length === 1);
    const { id } = stream.messages[0]!;
    const result = { action: 'accept', content: { by: 'somebody else' } };
    expect((await second.post({ jsonrpc: '2.0', id, result })).status).toBe(202);
    for (const made of ['x', `x.${String(id).split('.').slice(1).join('.')}`, 5]) {
      expect((await client.post({ jsonrpc: '2.0', id: made, result })).status).toBe(202);
    }
    expect((await client.post({ jsonrpc: '2.0', id, result: { action: 'decline' } })).status).toBe(202);
    await eventually('it is answered', () => stream.isEnded);
    expect(stream.messages).toHaveLength(2);
    expect(stream.messages[1]).toMatchObject({ result: text({ action: 'decline' }) });
  });

  test('and gives the answers together', async () => {
    const { client, ada } = await begin([{ name: 'echo' }]);
    const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo' } });
    const batch = [
      call(1),
      { jsonrpc: '2.0', method: 'notifications/odd' },
      call(2),
      { ...call(3), method: 'odd' },
    ];
    expect((await client.post(batch)).status).toBe(400);
    const wire = await createWireClient(ada, rig.gateway.url, '/mcp/files');
    const old = await createLegacyClient(wire, { version: '2025-03-26' });
    const answers = await old.post(batch);
    expect([answers.status, await answers.json()]).toEqual([
      200,
      [
        expect.objectContaining({ id: 1, result: text({}) }),
        expect.objectContaining({ id: 2, result: text({}) }),
        expect.objectContaining({ id: 3, error: expect.objectContaining({ code: -32601 }) as object }),
      ],
    ]);
    expect((await old.post([{ jsonrpc: '2.0', method: 'notifications/odd' }])).status).toBe(202);
    const opening = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    for (const odd of [[], [opening], ['x'], Array.from({ length: 51 }, (_, id) => call(id))]) {
      expect((await old.post(odd)).status).toBe(400);
    }
  });

  test('so that one body is not fifty calls for the price of one', async () => {
    const gateway = await startInProcess({ RATE_LIMIT_CALLS: '40' }, renderYaml({}));
    try {
      const [ada] = (await createUsers(gateway, ['Ada'])) as [TestUser];
      const old = await createLegacyClient(await createWireClient(ada, gateway.url), {
        version: '2025-03-26',
      });
      const batch = (length: number) =>
        old.post(Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })));
      expect((await batch(10)).status).toBe(200);
      const refused = await batch(50);
      expect([refused.status, await refused.json()]).toMatchObject([
        429,
        { error: { data: { code: 'MCP_RATE_LIMITED' } } },
      ]);
    } finally {
      await gateway.close();
    }
  });
});
