import { eventually, scriptedError, scriptedTasks, tasksExtension } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { legacyClient, modernRequest } from './mcpClient.ts';
import { ask, call, capabilities, createTaskScenes, idOf, tried } from './taskScene.ts';

type Json = Readonly<Record<string, unknown>>;

describe('who takes tasks, and who has them', () => {
  const scene = createTaskScenes();

  test('a client that says nothing, one with a session, and REST', async () => {
    const { ada, at, upstream, tasks } = await scene.tasks();
    const client = await at(ada);
    const atOnce = { content: [{ type: 'text', text: 'at once' }] };
    expect((await call(client, '/mcp', {})).answer.result).toMatchObject(atOnce);
    expect((await call(client, '/mcp', { extensions: { other: {} } })).answer.result).toMatchObject(atOnce);
    const legacy = await legacyClient(client, { capabilities });
    expect((await legacy.request('tools/call', { name: 'files__slow' })).answer.result).toMatchObject(atOnce);
    expect((await ada.call('files', 'slow')).body).toMatchObject(atOnce);
    expect(tasks.size).toBe(0);
    expect(upstream.requests.filter(({ text }) => text.includes('modelcontextprotocol/tasks'))).toEqual([]);
  });

  test('a server that begins one all the same', async () => {
    const stubborn = { resultType: 'task', taskId: 'stubborn', status: 'working', ttlMs: null };
    const tools = [{ name: 'slow', handler: () => stubborn }];
    const { ada, at, upstream } = await scene.tasks({ tools });
    const client = await at(ada);
    const told = { data: { code: 'MCP_PROTOCOL_ERROR' } };
    expect((await call(client, '/mcp', {})).answer.error).toMatchObject(told);
    const legacy = await legacyClient(client, { capabilities });
    const asked = await legacy.request('tools/call', { name: 'files__slow' });
    expect(asked.answer.error).toMatchObject(told);
    expect((await ada.call('files', 'slow')).body).toMatchObject({ code: 'MCP_PROTOCOL_ERROR' });
    expect((await call(client)).answer.result).toMatchObject({ resultType: 'task' });
    expect(upstream.received('tools/call')).toHaveLength(4);
    // It never said that it has tasks.
    const silent = await scene.tasks({ tools, capabilities: { tools: {} } });
    const { answer } = await call(await silent.at(silent.ada));
    expect(answer.error).toMatchObject(told);
    expect(silent.upstream.requests.some(({ text }) => text.includes('modelcontextprotocol/tasks'))).toBe(
      false,
    );
    // A task without an id that could be asked after.
    const nameless = await scene.tasks({
      tools: [{ name: 'slow', handler: () => ({ resultType: 'task' }) }],
    });
    expect((await call(await nameless.at(nameless.ada))).answer.error).toMatchObject(told);
  });

  test('a server of the era before means something else by it', async () => {
    const { ada, at, upstream } = await scene.tasks({
      era: 'legacy',
      methods: { 'tasks/get': () => ({ taskId: 'x', status: 'working' }) },
      tools: [{ name: 'slow', handler: () => ({ content: [], resultType: 'task', taskId: 'x' }) }],
    });
    const client = await at(ada);
    const { answer } = await call(client);
    expect(answer.result).toMatchObject({ resultType: 'complete' });
    expect(upstream.requests.some(({ text }) => text.includes('modelcontextprotocol/tasks'))).toBe(false);
  });

  test('a server that has gone back to the era before is not asked', async () => {
    const { ada, at, upstream } = await scene.tasks();
    const client = await at(ada);
    const taskId = await idOf(client);
    const { tools } = scriptedTasks();
    upstream.change({ era: 'legacy', methods: { 'tasks/get': () => ({ status: 'working' }) }, tools });
    await eventually('it is known to be of the era before', async () => {
      const { answer } = await call(client, '/mcp', {});
      return answer.result !== undefined;
    });
    const before = tried(upstream);
    expect((await ask(client, 'get', taskId)).error?.code).toBe(-32602);
    expect(tried(upstream)).toBe(before);
  });

  test('in the words of the protocol', async () => {
    const refuses = (requiredCapabilities: Json) => ({
      name: 'slow',
      handler: () => {
        throw scriptedError(-32021, 'Missing', { requiredCapabilities }, 400);
      },
    });
    const { ada, at, upstream } = await scene.tasks({ tools: [refuses(tasksExtension)] });
    const client = await at(ada);
    const { status, answer } = await call(client, '/mcp', {});
    expect([status, answer.error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: tasksExtension } },
    ]);
    const legacy = await legacyClient(client, { capabilities });
    const failed = await legacy.request('tools/call', { name: 'files__slow' });
    expect(failed.answer.result).toMatchObject({ isError: true });
    // Another extension is none that we pass on: to declare it would not help.
    upstream.change({ tools: [refuses({ extensions: { ...tasksExtension.extensions, other: {} } })] });
    const other = await call(client, '/mcp', {});
    expect(other.answer.error).toMatchObject({ data: { code: 'MCP_DIALOGUE_UNSUPPORTED' } });
  });

  test('and to nobody else', async () => {
    const { ada, at, upstream } = await scene.tasks();
    const client = await at(ada);
    const found = await modernRequest(client, 'server/discover');
    expect(found.answer.result?.['capabilities']).toMatchObject(tasksExtension);
    const legacy = await legacyClient(client, { capabilities });
    expect(legacy.opened['capabilities']).not.toHaveProperty('extensions');
    expect(legacy.opened['capabilities']).not.toHaveProperty('tasks');
    const taskId = await idOf(client);
    expect((await legacy.request('tasks/get', { taskId })).answer.error?.code).toBe(-32601);
    for (const [method, params] of [
      ['tasks/get', { taskId }],
      ['tasks/update', { taskId, inputResponses: {} }],
      ['tasks/update', { taskId }],
      ['tasks/cancel', { taskId }],
      ['subscriptions/listen', { notifications: { taskIds: [taskId] } }],
    ] as const) {
      const { status, answer } = await modernRequest(client, method, params);
      expect([method, status, answer.error?.code]).toEqual([method, 400, -32021]);
      expect(answer.error?.data).toMatchObject({ requiredCapabilities: tasksExtension });
    }
    for (const removed of ['tasks/result', 'tasks/list']) {
      const { status, answer } = await modernRequest(client, removed, { taskId }, { capabilities });
      expect([removed, status, answer.error?.code]).toEqual([removed, 404, -32601]);
    }
    const notifications = { taskIds: [taskId] };
    const heard = await modernRequest(client, 'subscriptions/listen', { notifications }, { capabilities });
    expect(heard.before[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: {} },
    });
    expect(heard.answer.result).toMatchObject({ resultType: 'complete' });
    expect(tried(upstream)).toBe(0);
  });
});
