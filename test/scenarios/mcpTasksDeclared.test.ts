import { eventually, scriptedError, scriptedTasks, tasksExtension } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createLegacyClient, sendModern } from './mcpClient.ts';
import {
  sendTaskRequest,
  callTask,
  taskCapabilities,
  createTaskRigs,
  startTask,
  countTaskRequests,
} from './taskRig.ts';

type Json = Readonly<Record<string, unknown>>;

describe('who takes tasks, and who has them', () => {
  const rig = createTaskRigs();

  test('a client that says nothing, one with a session, and REST', async () => {
    const { ada, connectClient, upstream, tasks } = await rig.startTasks();
    const client = await connectClient(ada);
    const atOnce = { content: [{ type: 'text', text: 'at once' }] };
    expect((await callTask(client, '/mcp', {})).message.result).toMatchObject(atOnce);
    expect((await callTask(client, '/mcp', { extensions: { other: {} } })).message.result).toMatchObject(
      atOnce,
    );
    const legacy = await createLegacyClient(client, { capabilities: taskCapabilities });
    expect((await legacy.request('tools/call', { name: 'files__slow' })).message.result).toMatchObject(
      atOnce,
    );
    expect((await ada.call('files', 'slow')).body).toMatchObject(atOnce);
    expect(tasks.size).toBe(0);
    expect(upstream.requests.filter(({ text }) => text.includes('modelcontextprotocol/tasks'))).toEqual([]);
  });

  test('a server that begins one all the same', async () => {
    const stubborn = { resultType: 'task', taskId: 'stubborn', status: 'working', ttlMs: null };
    const tools = [{ name: 'slow', handler: () => stubborn }];
    const { ada, connectClient, upstream } = await rig.startTasks({ tools });
    const client = await connectClient(ada);
    const protocolError = { data: { code: 'MCP_PROTOCOL_ERROR' } };
    expect((await callTask(client, '/mcp', {})).message.error).toMatchObject(protocolError);
    const legacy = await createLegacyClient(client, { capabilities: taskCapabilities });
    const response = await legacy.request('tools/call', { name: 'files__slow' });
    expect(response.message.error).toMatchObject(protocolError);
    expect((await ada.call('files', 'slow')).body).toMatchObject({ code: 'MCP_PROTOCOL_ERROR' });
    expect((await callTask(client)).message.result).toMatchObject({ resultType: 'task' });
    expect(upstream.received('tools/call')).toHaveLength(4);
    // It never said that it has tasks.
    const silent = await rig.startTasks({ tools, capabilities: { tools: {} } });
    const { message } = await callTask(await silent.connectClient(silent.ada));
    expect(message.error).toMatchObject(protocolError);
    expect(silent.upstream.requests.some(({ text }) => text.includes('modelcontextprotocol/tasks'))).toBe(
      false,
    );
    // A task without an id that could be asked after.
    const nameless = await rig.startTasks({
      tools: [{ name: 'slow', handler: () => ({ resultType: 'task' }) }],
    });
    expect((await callTask(await nameless.connectClient(nameless.ada))).message.error).toMatchObject(
      protocolError,
    );
  });

  test('a server of the era before means something else by it', async () => {
    const { ada, connectClient, upstream } = await rig.startTasks({
      era: 'legacy',
      methods: { 'tasks/get': () => ({ taskId: 'x', status: 'working' }) },
      tools: [{ name: 'slow', handler: () => ({ content: [], resultType: 'task', taskId: 'x' }) }],
    });
    const client = await connectClient(ada);
    const { message } = await callTask(client);
    expect(message.result).toMatchObject({ resultType: 'complete' });
    expect(upstream.requests.some(({ text }) => text.includes('modelcontextprotocol/tasks'))).toBe(false);
  });

  test('a server that has gone back to the era before is not asked', async () => {
    const { ada, connectClient, upstream } = await rig.startTasks();
    const client = await connectClient(ada);
    const taskId = await startTask(client);
    const { tools } = scriptedTasks();
    upstream.change({ era: 'legacy', methods: { 'tasks/get': () => ({ status: 'working' }) }, tools });
    await eventually('it is known to be of the era before', async () => {
      const { message } = await callTask(client, '/mcp', {});
      return message.result !== undefined;
    });
    const before = countTaskRequests(upstream);
    expect((await sendTaskRequest(client, 'get', taskId)).error?.code).toBe(-32602);
    expect(countTaskRequests(upstream)).toBe(before);
  });

  test('in the words of the protocol', async () => {
    const refuses = (requiredCapabilities: Json) => ({
      name: 'slow',
      handler: () => {
        throw scriptedError(-32021, 'Missing', { requiredCapabilities }, 400);
      },
    });
    const { ada, connectClient, upstream } = await rig.startTasks({ tools: [refuses(tasksExtension)] });
    const client = await connectClient(ada);
    const { status, message } = await callTask(client, '/mcp', {});
    expect([status, message.error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: tasksExtension } },
    ]);
    const legacy = await createLegacyClient(client, { capabilities: taskCapabilities });
    const failed = await legacy.request('tools/call', { name: 'files__slow' });
    expect(failed.message.result).toMatchObject({ isError: true });
    // Another extension is none that we pass on: to declare it would not help.
    upstream.change({ tools: [refuses({ extensions: { ...tasksExtension.extensions, other: {} } })] });
    const other = await callTask(client, '/mcp', {});
    expect(other.message.error).toMatchObject({ data: { code: 'MCP_DIALOGUE_UNSUPPORTED' } });
  });

  test('and to nobody else', async () => {
    const { ada, connectClient, upstream } = await rig.startTasks();
    const client = await connectClient(ada);
    const found = await sendModern(client, 'server/discover');
    expect(found.message.result?.['capabilities']).toMatchObject(tasksExtension);
    const legacy = await createLegacyClient(client, { capabilities: taskCapabilities });
    expect(legacy.initializeResult['capabilities']).not.toHaveProperty('extensions');
    expect(legacy.initializeResult['capabilities']).not.toHaveProperty('tasks');
    const taskId = await startTask(client);
    expect((await legacy.request('tasks/get', { taskId })).message.error?.code).toBe(-32601);
    for (const [method, params] of [
      ['tasks/get', { taskId }],
      ['tasks/update', { taskId, inputResponses: {} }],
      ['tasks/update', { taskId }],
      ['tasks/cancel', { taskId }],
      ['subscriptions/listen', { notifications: { taskIds: [taskId] } }],
    ] as const) {
      const { status, message } = await sendModern(client, method, params);
      expect([method, status, message.error?.code]).toEqual([method, 400, -32021]);
      expect(message.error?.data).toMatchObject({ requiredCapabilities: tasksExtension });
    }
    for (const removed of ['tasks/result', 'tasks/list']) {
      const { status, message } = await sendModern(
        client,
        removed,
        { taskId },
        { capabilities: taskCapabilities },
      );
      expect([removed, status, message.error?.code]).toEqual([removed, 404, -32601]);
    }
    const notifications = { taskIds: [taskId] };
    const received = await sendModern(
      client,
      'subscriptions/listen',
      { notifications },
      { capabilities: taskCapabilities },
    );
    expect(received.earlierMessages[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: {} },
    });
    expect(received.message.result).toMatchObject({ resultType: 'complete' });
    expect(countTaskRequests(upstream)).toBe(0);
  });
});
