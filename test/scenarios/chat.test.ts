import type { ConversationsView, ConversationView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { sendChat, listCalls, callThenReport, createChatRig, extractText, textResult } from './chatRig.ts';

const rig = createChatRig();
const readStored = async (id: string) =>
  (await (await rig.users.ada.get(`/api/chat/${id}`)).json()) as ConversationView;

describe('a chat', () => {
  test('what a model says is told as it comes, and kept', async () => {
    const { ada } = rig.users;
    rig.setScript(() => ['Hel', 'lo']);
    const stream = await sendChat(ada, { text: '  Say hello, please  ' });
    expect([stream.status, stream.headers.get('cache-control')]).toEqual([200, 'no-store, no-transform']);
    const { message, finish, conversation } = await stream.waitUntilDone();
    expect(stream.events.map(({ event }) => event)).toEqual(['text', 'text', 'done']);
    expect([extractText(message), finish, conversation.title]).toEqual([
      'Hello',
      'stop',
      'Say hello, please',
    ]);
    expect(await readStored(stream.conversationId)).toMatchObject({
      title: 'Say hello, please',
      isRunning: false,
      messages: [{ role: 'user', text: 'Say hello, please' }, message],
    });
  });

  test('the headers come before the model has said anything', async () => {
    let say: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (say = resolve));
    rig.setScript(() => [{ until }, 'at last']);
    const stream = await sendChat(rig.users.ada, { text: 'think' });
    expect(stream.events).toEqual([]);
    expect(await readStored(stream.conversationId)).toMatchObject({
      isRunning: true,
      messages: [{ role: 'user', text: 'think' }],
    });
    say();
    expect(extractText((await stream.waitUntilDone()).message)).toBe('at last');
    expect(await readStored(stream.conversationId)).toMatchObject({ isRunning: false });
  });

  test('a model calls a tool in the name of the user, and reads what it gave', async () => {
    rig.setScript(callThenReport({ name: 'greet_mcp_docs', args: { a: 1 } }));
    const stream = await sendChat(rig.users.ada, { text: 'greet' });
    const { message } = await stream.waitUntilDone();
    expect(stream.events.map(({ event }) => event)).toEqual(['tool_call', 'result', 'text', 'done']);
    const call = {
      server: 'docs',
      serverTitle: 'The documents',
      tool: 'greet',
      arguments: { a: 1 },
      authority: { kind: 'none', shared: true },
    };
    expect((await stream.waitForEvent('tool_call')).call).toMatchObject({ ...call, state: 'running' });
    const [done] = listCalls(message);
    expect(done).toMatchObject({ ...call, state: 'done', result: textResult('greet {"a":1}') });
    expect(typeof done?.durationMs).toBe('number');
    expect((await stream.waitForEvent('result')).call).toEqual(done);
    expect(extractText(message)).toBe('It said: greet {"a":1}');
    expect((await readStored(stream.conversationId)).messages[1]).toEqual(message);
  });

  test('the model is shown the tools of the chosen servers, by the names models use', async () => {
    const { ada } = rig.users;
    rig.setScript(() => ['ok']);
    await (await sendChat(ada, { text: 'all' })).waitUntilDone();
    const shown = rig.model.requests.at(-1)!.tools.map((tool) => tool.function);
    expect(shown.map(({ name }) => name)).toContain('number_mcp_docs');
    expect(shown.find(({ name }) => name === 'number_mcp_docs')).toMatchObject({
      description: 'Does number.',
      parameters: { required: ['a'], properties: { a: { type: 'number' } } },
    });
    await (await sendChat(ada, { text: 'none', servers: ['others'] })).waitUntilDone();
    expect(rig.model.requests.at(-1)!.tools).toEqual([]);
  });

  test('what was said and called before is told to the model again', async () => {
    const { ada } = rig.users;
    rig.setScript(callThenReport({ name: 'greet_mcp_docs', args: { a: 7 } }));
    const first = await sendChat(ada, { text: 'greet me' });
    await first.waitUntilDone();
    rig.setScript(() => ['You are welcome']);
    const second = await sendChat(ada, { text: 'thanks', conversationId: first.conversationId });
    const { message } = await second.waitUntilDone();
    const { messages } = rig.model.requests.at(-1)!;
    expect(messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(messages[2]?.tool_calls?.[0]?.function).toEqual({ name: 'greet_mcp_docs', arguments: '{"a":7}' });
    expect([messages[3]?.content, messages[5]?.content]).toEqual(['greet {"a":7}', 'thanks']);
    expect(messages[3]?.tool_call_id).toBe(messages[2]?.tool_calls?.[0]?.id);
    expect((await readStored(first.conversationId)).messages).toHaveLength(4);
    expect((await readStored(first.conversationId)).messages.at(-1)).toEqual(message);
  });

  test('are listed, renamed and deleted by their owner', async () => {
    const { ada } = rig.users;
    rig.setScript(() => ['ok']);
    const stream = await sendChat(ada, { text: 'a conversation to keep' });
    await stream.waitUntilDone();
    const path = `/api/chat/${stream.conversationId}`;
    const renamed = await ada.send('PATCH', path, { title: ' Another name ' });
    expect(await renamed.json()).toMatchObject({ title: 'Another name' });
    const list = async () => (await (await ada.get('/api/chat?limit=200')).json()) as ConversationsView;
    expect((await list()).conversations[0]).toMatchObject({
      id: stream.conversationId,
      title: 'Another name',
    });
    expect((await ada.send('PATCH', path, { title: '' })).status).toBe(400);
    expect((await ada.send('DELETE', path)).status).toBe(204);
    expect((await ada.get(path)).status).toBe(404);
    expect((await list()).conversations.map(({ id }) => id)).not.toContain(stream.conversationId);
  });

  test('one that is deleted while it is answered is stopped first', async () => {
    const { ada } = rig.users;
    rig.setScript(() => ['Once', { until: new Promise(() => undefined) }]);
    const stream = await sendChat(ada, { text: 'a long story' });
    await stream.waitForEvent('text');
    expect((await ada.send('DELETE', `/api/chat/${stream.conversationId}`)).status).toBe(204);
    expect((await stream.waitUntilDone()).finish).toBe('stopped');
    expect((await ada.get(`/api/chat/${stream.conversationId}`)).status).toBe(404);
  });

  test('somebody else’s conversation does not exist, on any route', async () => {
    const { ada, bob } = rig.users;
    rig.setScript(() => ['Hello', { until: new Promise(() => undefined) }]);
    const stream = await sendChat(ada, { text: 'mine' });
    await stream.waitForEvent('text');
    const path = `/api/chat/${stream.conversationId}`;
    const answers = await Promise.all([
      bob.get(path),
      bob.send('PATCH', path, { title: 'his' }),
      bob.send('DELETE', path),
      bob.post('/api/chat', { text: 'hi', conversationId: stream.conversationId }),
      bob.post(`${path}/stop`),
      bob.post(`${path}/approvals/x`, { approve: true }),
    ]);
    for (const answer of answers) {
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'CHAT_NOT_FOUND' }]);
    }
    const { conversations } = (await (await bob.get('/api/chat')).json()) as ConversationsView;
    expect(conversations).toEqual([]);
    expect(await readStored(stream.conversationId)).toMatchObject({ isRunning: true });
    await ada.post(`${path}/stop`);
    await stream.waitUntilDone();
  });

  test('are those of the configuration, and nothing else can be asked', async () => {
    const { ada } = rig.users;
    rig.setScript(({ model }) => [`I am ${model}`]);
    expect(await (await ada.get('/api/chat/models')).json()).toEqual({
      endpoints: [{ name: 'Test', models: ['one', 'two'] }],
    });
    const two = await sendChat(ada, { text: 'who?', endpoint: 'Test', model: 'two' });
    expect(extractText((await two.waitUntilDone()).message)).toBe('I am two');
    for (const wish of [{ model: 'three' }, { endpoint: 'Other' }]) {
      const refused = await sendChat(ada, { text: 'who?', ...wish });
      expect([refused.status, refused.problem?.code]).toEqual([400, 'MODEL_NOT_FOUND']);
    }
    const requestCount = rig.model.requests.length;
    const smuggled = await sendChat(ada, { text: 'who?', baseURL: 'http://127.0.0.1:1/v1' });
    expect([smuggled.status, smuggled.problem?.code]).toEqual([400, 'REQUEST_INVALID']);
    expect(rig.model.requests).toHaveLength(requestCount);
  });

  test('what cannot begin is a status, and leaves nothing behind', async () => {
    const { ada } = rig.users;
    const before = (await (await ada.get('/api/chat?limit=200')).json()) as ConversationsView;
    for (const body of [{}, { text: '   ' }, { text: 'x'.repeat(100_001) }, { text: 'a', servers: 'docs' }]) {
      expect((await sendChat(ada, body)).problem?.code).toBe('REQUEST_INVALID');
    }
    expect(await (await ada.get('/api/chat?limit=200')).json()).toEqual(before);
  });
});
