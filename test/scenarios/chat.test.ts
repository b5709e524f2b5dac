import type { ConversationsView, ConversationView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { ask, callsIn, callThenReport, createChatScene, textIn, textResult } from './chatScene.ts';

const scene = createChatScene();
const kept = async (id: string) =>
  (await (await scene.people.ada.get(`/api/chat/${id}`)).json()) as ConversationView;

describe('a chat', () => {
  test('what a model says is told as it comes, and kept', async () => {
    const { ada } = scene.people;
    scene.play(() => ['Hel', 'lo']);
    const heard = await ask(ada, { text: '  Say hello, please  ' });
    expect([heard.status, heard.headers.get('cache-control')]).toEqual([200, 'no-store, no-transform']);
    const { message, finish, conversation } = await heard.done();
    expect(heard.events.map(({ event }) => event)).toEqual(['text', 'text', 'done']);
    expect([textIn(message), finish, conversation.title]).toEqual(['Hello', 'stop', 'Say hello, please']);
    expect(await kept(heard.conversationId)).toMatchObject({
      title: 'Say hello, please',
      isRunning: false,
      messages: [{ role: 'user', text: 'Say hello, please' }, message],
    });
  });

  test('the headers come before the model has said anything', async () => {
    let say: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (say = resolve));
    scene.play(() => [{ until }, 'at last']);
    const heard = await ask(scene.people.ada, { text: 'think' });
    expect(heard.events).toEqual([]);
    expect(await kept(heard.conversationId)).toMatchObject({
      isRunning: true,
      messages: [{ role: 'user', text: 'think' }],
    });
    say();
    expect(textIn((await heard.done()).message)).toBe('at last');
    expect(await kept(heard.conversationId)).toMatchObject({ isRunning: false });
  });

  test('a model calls a tool in the name of the user, and reads what it gave', async () => {
    scene.play(callThenReport({ name: 'greet_mcp_docs', args: { a: 1 } }));
    const heard = await ask(scene.people.ada, { text: 'greet' });
    const { message } = await heard.done();
    expect(heard.events.map(({ event }) => event)).toEqual(['tool_call', 'result', 'text', 'done']);
    const call = {
      server: 'docs',
      serverTitle: 'The documents',
      tool: 'greet',
      arguments: { a: 1 },
      authority: { kind: 'none', shared: true },
    };
    expect((await heard.next('tool_call')).call).toMatchObject({ ...call, state: 'running' });
    const [done] = callsIn(message);
    expect(done).toMatchObject({ ...call, state: 'done', result: textResult('greet {"a":1}') });
    expect(typeof done?.durationMs).toBe('number');
    expect((await heard.next('result')).call).toEqual(done);
    expect(textIn(message)).toBe('It said: greet {"a":1}');
    expect((await kept(heard.conversationId)).messages[1]).toEqual(message);
  });

  test('the model is shown the tools of the chosen servers, by the names models use', async () => {
    const { ada } = scene.people;
    scene.play(() => ['ok']);
    await (await ask(ada, { text: 'all' })).done();
    const shown = scene.model.requests.at(-1)!.tools.map((tool) => tool.function);
    expect(shown.map(({ name }) => name)).toContain('number_mcp_docs');
    expect(shown.find(({ name }) => name === 'number_mcp_docs')).toMatchObject({
      description: 'Does number.',
      parameters: { required: ['a'], properties: { a: { type: 'number' } } },
    });
    await (await ask(ada, { text: 'none', servers: ['others'] })).done();
    expect(scene.model.requests.at(-1)!.tools).toEqual([]);
  });

  test('what was said and called before is told to the model again', async () => {
    const { ada } = scene.people;
    scene.play(callThenReport({ name: 'greet_mcp_docs', args: { a: 7 } }));
    const first = await ask(ada, { text: 'greet me' });
    await first.done();
    scene.play(() => ['You are welcome']);
    const second = await ask(ada, { text: 'thanks', conversationId: first.conversationId });
    const { message } = await second.done();
    const { messages } = scene.model.requests.at(-1)!;
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
    expect((await kept(first.conversationId)).messages).toHaveLength(4);
    expect((await kept(first.conversationId)).messages.at(-1)).toEqual(message);
  });

  test('are listed, renamed and deleted by their owner', async () => {
    const { ada } = scene.people;
    scene.play(() => ['ok']);
    const heard = await ask(ada, { text: 'a conversation to keep' });
    await heard.done();
    const path = `/api/chat/${heard.conversationId}`;
    const renamed = await ada.send('PATCH', path, { title: ' Another name ' });
    expect(await renamed.json()).toMatchObject({ title: 'Another name' });
    const list = async () => (await (await ada.get('/api/chat?limit=200')).json()) as ConversationsView;
    expect((await list()).conversations[0]).toMatchObject({
      id: heard.conversationId,
      title: 'Another name',
    });
    expect((await ada.send('PATCH', path, { title: '' })).status).toBe(400);
    expect((await ada.send('DELETE', path)).status).toBe(204);
    expect((await ada.get(path)).status).toBe(404);
    expect((await list()).conversations.map(({ id }) => id)).not.toContain(heard.conversationId);
  });

  test('one that is deleted while it is answered is stopped first', async () => {
    const { ada } = scene.people;
    scene.play(() => ['Once', { until: new Promise(() => undefined) }]);
    const heard = await ask(ada, { text: 'a long story' });
    await heard.next('text');
    expect((await ada.send('DELETE', `/api/chat/${heard.conversationId}`)).status).toBe(204);
    expect((await heard.done()).finish).toBe('stopped');
    expect((await ada.get(`/api/chat/${heard.conversationId}`)).status).toBe(404);
  });

  test('somebody else’s conversation does not exist, on any route', async () => {
    const { ada, bob } = scene.people;
    scene.play(() => ['Hello', { until: new Promise(() => undefined) }]);
    const heard = await ask(ada, { text: 'mine' });
    await heard.next('text');
    const path = `/api/chat/${heard.conversationId}`;
    const answers = await Promise.all([
      bob.get(path),
      bob.send('PATCH', path, { title: 'his' }),
      bob.send('DELETE', path),
      bob.post('/api/chat', { text: 'hi', conversationId: heard.conversationId }),
      bob.post(`${path}/stop`),
      bob.post(`${path}/approvals/x`, { approve: true }),
    ]);
    for (const answer of answers) {
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'CHAT_NOT_FOUND' }]);
    }
    const { conversations } = (await (await bob.get('/api/chat')).json()) as ConversationsView;
    expect(conversations).toEqual([]);
    expect(await kept(heard.conversationId)).toMatchObject({ isRunning: true });
    await ada.post(`${path}/stop`);
    await heard.done();
  });

  test('are those of the configuration, and nothing else can be asked', async () => {
    const { ada } = scene.people;
    scene.play(({ model }) => [`I am ${model}`]);
    expect(await (await ada.get('/api/chat/models')).json()).toEqual({
      endpoints: [{ name: 'Test', models: ['one', 'two'] }],
    });
    const two = await ask(ada, { text: 'who?', endpoint: 'Test', model: 'two' });
    expect(textIn((await two.done()).message)).toBe('I am two');
    for (const wish of [{ model: 'three' }, { endpoint: 'Other' }]) {
      const refused = await ask(ada, { text: 'who?', ...wish });
      expect([refused.status, refused.problem?.code]).toEqual([400, 'MODEL_NOT_FOUND']);
    }
    const asked = scene.model.requests.length;
    const smuggled = await ask(ada, { text: 'who?', baseURL: 'http://127.0.0.1:1/v1' });
    expect([smuggled.status, smuggled.problem?.code]).toEqual([400, 'REQUEST_INVALID']);
    expect(scene.model.requests).toHaveLength(asked);
  });

  test('what cannot begin is a status, and leaves nothing behind', async () => {
    const { ada } = scene.people;
    const before = (await (await ada.get('/api/chat?limit=200')).json()) as ConversationsView;
    for (const body of [{}, { text: '   ' }, { text: 'x'.repeat(100_001) }, { text: 'a', servers: 'docs' }]) {
      expect((await ask(ada, body)).problem?.code).toBe('REQUEST_INVALID');
    }
    expect(await (await ada.get('/api/chat?limit=200')).json()).toEqual(before);
  });
});
