import { eventually, type ScriptedCall, type ScriptedTool } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  createKeyClient,
  atReplica,
  META_PREFIX,
  createLegacyClient,
  sendModern,
  createWireClient,
  type LegacyClient,
  type WireClient,
} from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

type Json = Readonly<Record<string, unknown>>;

const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const form = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
const page = { mode: 'url', message: 'Sign', url: 'https://sign.example/1', elicitationId: 'theirs' };
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const accepted = { action: 'accept', content: { name: 'Ada' } };

/** Of the legacy era: asks in the middle of its call, and answers with what it got. */
const waits = (...questions: (readonly [string, Json])[]): ScriptedTool => ({
  name: 'asking',
  handler: async (args, call: ScriptedCall) => {
    const replies: unknown[] = [];
    for (const [method, params] of questions) {
      const { result, error } = await call.sendRequest(method, params);
      call.progress(replies.length + 1);
      replies.push(result ?? error);
    }
    return text([args, replies]);
  },
});

/** Of the modern era: answers with a question, and forgets the call. */
const createElicitingTool = (inputRequests: Json): ScriptedTool => ({
  name: 'asking',
  handler: (_, { params: { inputResponses, requestState } }) =>
    inputResponses === undefined
      ? { resultType: 'input_required', inputRequests, requestState: 'its "own" ü' }
      : text([inputResponses, requestState]),
});

const repliesOf = ({ result }: { result?: Json }) =>
  JSON.parse((result?.['content'] as [{ text: string }])[0].text) as unknown[];

describe('between the eras', () => {
  const rig = createGatewayRig();

  async function begin(
    era: 'legacy' | 'modern',
    tools: ScriptedTool[],
    more: { relay?: string[]; names?: string[] } = {},
  ) {
    const upstream = await rig.startServer({ era, tools });
    const { relay = ['sampling', 'roots'], names = ['Ada'] } = more;
    const users = await rig.start(renderYaml({ files: { ...httpDefinition(upstream.url), relay } }), names);
    const clients = await Promise.all(
      users.map((user) => createWireClient(user, rig.gateway.url, '/mcp/files')),
    );
    return { upstream, users, clients, client: clients[0]! };
  }

  const keyOf = (client: WireClient) => client.headers['authorization']!.slice('Bearer '.length);

  /** The same client at another replica. */
  async function there(users: TestUser[], client: WireClient): Promise<WireClient> {
    const [other] = (await rig.startReplica(users)) as [TestUser];
    const base = new URL('/', (await other.get('/health')).url).href;
    return createKeyClient(keyOf(client), base, '/mcp/files');
  }

  const call = (by: WireClient, more: Json = {}, meta: Json = {}) =>
    sendModern(by, 'tools/call', { name: 'asking', arguments: { a: 1 }, ...more }, { capabilities, meta });

  test('here, and at another replica, in several rounds', async () => {
    const sampling = ['sampling/createMessage', { messages: [], maxTokens: 1 }] as const;
    const questions = [
      ['elicitation/create', form],
      ['elicitation/create', page],
      sampling,
      ['roots/list', {}],
    ] as const;
    const { client, upstream, users } = await begin('legacy', [waits(...questions)]);
    const other = await there(users, client);
    const answers = [accepted, { action: 'accept' }, { role: 'assistant', model: 'm' }, { roots: [] }];
    const { elicitationId: _theirs, ...opened } = page;
    for (const [run, at] of [
      [client, client, client, client],
      [other, client, other, other],
    ].entries()) {
      let { message: answer } = await call(client);
      for (const [round, [method, params]] of questions.entries()) {
        const { inputRequests, requestState, resultType } = answer.result as Record<
          'inputRequests' | 'requestState' | 'resultType',
          never
        >;
        expect([run, round, resultType]).toEqual([run, round, 'input_required']);
        const [[key, question]] = Object.entries(inputRequests) as unknown as [[string, Json]];
        const shown = params === page ? opened : params;
        const message =
          'message' in shown ? { message: `The server “files” asks: ${String(shown['message'])}` } : {};
        expect(question).toEqual({
          method,
          ...(Object.keys(shown).length > 0 && { params: { ...shown, ...message } }),
        });
        expect(String(requestState)).not.toContain('theirs');
        ({ message: answer } = await call(at[round]!, {
          inputResponses: { [key]: answers[round] },
          requestState,
        }));
      }
      expect(answer.result).toMatchObject({ resultType: 'complete' });
      expect(repliesOf(answer)).toEqual([{ a: 1 }, answers]);
    }
    expect(upstream.received('tools/call')).toHaveLength(2);
    expect(upstream.received('notifications/cancelled')).toEqual([]);
  });

  test('to the request that waits, under its own token', async () => {
    const { client } = await begin('legacy', [waits(['elicitation/create', form])]);
    const { message } = await call(client, {}, { progressToken: 'first' });
    const { requestState } = message.result as Json;
    const response = await call(
      client,
      { requestState, inputResponses: { q1: accepted } },
      { progressToken: 'second' },
    );
    expect(response.earlierMessages).toMatchObject([{ params: { progressToken: 'second', progress: 1 } }]);
  });

  test('of nobody else, changed, or a second time', async () => {
    const { clients, upstream, users } = await begin('legacy', [waits(['elicitation/create', form])], {
      names: ['Ada', 'Bob'],
    });
    const [ada, bob] = clients as [WireClient, WireClient];
    const other = await there(users, ada);
    const { message: answer } = await call(ada);
    const state = String((answer.result as Json)['requestState']);
    const middle = Math.floor(state.length / 2);
    const changed = `${state.slice(0, middle)}${state[middle] === 'A' ? 'B' : 'A'}${state.slice(middle + 1)}`;
    const inputResponses = { q1: accepted };
    const answersUpstream = () => upstream.requests.filter(({ message }) => message?.result !== undefined);
    for (const [what, trying] of [
      ['another user', call(bob, { inputResponses, requestState: state })],
      ['changed', call(ada, { inputResponses, requestState: changed })],
      ['other arguments', call(ada, { inputResponses, requestState: state, arguments: { a: 2 } })],
    ] as const) {
      expect([what, (await trying).message.error?.code]).toEqual([what, -32602]);
    }
    expect(answersUpstream()).toEqual([]);
    const racing = await Promise.all(
      [ada, other, ada].map((by) => call(by, { inputResponses, requestState: state })),
    );
    expect(racing.filter(({ message: { result } }) => result !== undefined)).toHaveLength(1);
    expect(racing.flatMap(({ message: { error } }) => error?.code ?? [])).toEqual([-32602, -32602]);
    for (const by of [ada, other]) {
      const again = await call(by, { inputResponses, requestState: state });
      expect(again.message.error?.code).toBe(-32602);
    }
    expect([answersUpstream().length, upstream.received('tools/call').length]).toEqual([1, 1]);
  });

  test('the client that came back leaves, and the server is told', async () => {
    const stuck: ScriptedTool = {
      name: 'asking',
      handler: async (_, call) => {
        await call.sendRequest('elicitation/create', form);
        return new Promise<never>(() => undefined);
      },
    };
    const { client, upstream, users } = await begin('legacy', [stuck]);
    const other = await there(users, client);
    for (const [round, by] of [client, other].entries()) {
      const { message: answer } = await call(client);
      const { requestState } = answer.result as Json;
      const abortController = new AbortController();
      const params = { name: 'asking', arguments: { a: 1 }, requestState, inputResponses: { q1: accepted } };
      const running = sendModern(by, 'tools/call', params, {
        capabilities,
        init: { signal: abortController.signal },
      });
      const answered = () => upstream.requests.filter(({ message }) => message?.result !== undefined).length;
      await eventually('the server has the answer', () => answered() === round + 1);
      abortController.abort();
      await expect(running).rejects.toThrow();
      await eventually(
        'the server is told',
        () => upstream.received('notifications/cancelled').length === round + 1,
      );
    }
  });

  async function legacy(client: WireClient, more: { version?: string; capabilities?: Json } = {}) {
    return createLegacyClient(client, { capabilities, ...more });
  }

  const post = (client: LegacyClient, id: number, headers: Record<string, string> = {}) =>
    client.post({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'asking' } }, headers);

  test('and the answer may come to another replica', async () => {
    const questions = { one: { method: 'elicitation/create', params: form }, two: { method: 'roots/list' } };
    const { client, upstream, users } = await begin('modern', [createElicitingTool(questions)]);
    const session = await legacy(client);
    const other = atReplica(session, new URL('/', (await there(users, client)).url).href);
    for (const [id, by] of [session, other].entries()) {
      const stream = readStream(await post(session, id));
      await eventually('it is asked', () => stream.messages.length === 2);
      const messages = stream.messages;
      expect(messages.map(({ method }) => method)).toEqual(['elicitation/create', 'roots/list']);
      for (const { id: question, method } of [...messages]) {
        const result = method === 'roots/list' ? { roots: [] } : accepted;
        expect((await by.post({ jsonrpc: '2.0', id: question, result })).status).toBe(202);
      }
      await eventually('it is answered', () => stream.isEnded);
      expect(stream.messages[2]).toMatchObject({
        id,
        result: text([{ one: accepted, two: { roots: [] } }, 'its "own" ü']),
      });
    }
    expect(upstream.received('tools/call')).toHaveLength(4);
  });

  test('a page has a name for 2025-11-25, and is a link before', async () => {
    const { elicitationId: _theirs, ...asks } = page;
    const { client } = await begin('modern', [
      createElicitingTool({ one: { method: 'elicitation/create', params: asks } }),
    ]);
    const session = await legacy(client);
    const stream = readStream(await post(session, 1));
    await eventually('it is asked', () => stream.messages.length === 1);
    const { id, params } = stream.messages[0]!;
    expect(params).toMatchObject({ mode: 'url', url: page.url });
    expect(params!['elicitationId']).toMatch(/.{8}/);
    expect((await session.post({ jsonrpc: '2.0', id, result: { action: 'decline' } })).status).toBe(202);
    await eventually('it goes on', () => stream.isEnded);
    expect(repliesOf(stream.messages[1]!)[0]).toEqual({ one: { action: 'decline' } });
    const before = await legacy(client, { version: '2025-06-18' });
    const { message } = await before.request('tools/call', { name: 'asking' });
    expect(message.result).toMatchObject({ isError: true });
    expect(JSON.stringify(message.result)).toContain(page.url);
  });

  test('the request to a modern server is ended, and not by who only leaves', async () => {
    const stuck = { name: 'asking', handler: () => new Promise<never>(() => undefined) };
    const { client, upstream } = await begin('modern', [stuck]);
    const session = await legacy(client);
    const abortController = new AbortController();
    const params = { name: 'asking' };
    const left = session.post(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      {},
      { signal: abortController.signal },
    );
    const running = post(session, 2);
    await eventually('both run', () => upstream.received('tools/call').length === 2);
    abortController.abort();
    await expect(left).rejects.toThrow();
    expect((await session.notify('notifications/cancelled', { requestId: 2 })).status).toBe(202);
    expect(await (await running).text()).toBe('');
    const aborted = () => upstream.received('tools/call').filter((request) => request.aborted).length;
    await eventually('the server notices', () => aborted() === 1);
    expect((await session.notify('notifications/cancelled', { requestId: 1 })).status).toBe(202);
    await eventually('the other one too, once it is told', () => aborted() === 2);
  });

  test('from the level on that either kind of client names', async () => {
    const chatty: ScriptedTool = {
      name: 'asking',
      handler: (_, call) => {
        for (const level of ['debug', 'info', 'error']) call.log(level, level);
        return text('done');
      },
    };
    const levels = (before: readonly { params?: Json }[]) => before.map(({ params }) => params?.['level']);
    const modern = await begin('legacy', [chatty]);
    expect(levels((await call(modern.client)).earlierMessages)).toEqual([]);
    const meta = { [`${META_PREFIX}logLevel`]: 'info' };
    expect(levels((await call(modern.client, {}, meta)).earlierMessages)).toEqual(['info', 'error']);
    const other = await begin('modern', [chatty]);
    const session = await legacy(other.client);
    expect((await session.request('logging/setLevel', { level: 'error' })).message.result).toEqual({});
    expect(levels((await session.request('tools/call', { name: 'asking' })).earlierMessages)).toEqual([
      'error',
    ]);
    const requestMeta = other.upstream.received('tools/call').at(-1)!.message!.params!['_meta'] as Json;
    expect(requestMeta[`${META_PREFIX}logLevel`]).toBe('error');
  });

  test('a failed result, and no question', async () => {
    const { client } = await begin('modern', [
      createElicitingTool({ one: { method: 'elicitation/create', params: form } }),
    ]);
    const unable = await legacy(client, { capabilities: {} });
    const { message, earlierMessages } = await unable.request('tools/call', { name: 'asking' });
    expect([earlierMessages, message.result?.['isError']]).toEqual([[], true]);
    const plain = await post(await legacy(client), 7, { accept: 'application/json' });
    expect(await plain.json()).toMatchObject({ id: 7, result: { isError: true } });
  });
});
