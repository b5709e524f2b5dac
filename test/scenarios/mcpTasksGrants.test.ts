import { eventually, scriptedTasks, tasksExtension } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createSignedInRig } from './grantCalls.ts';
import { createGrantRigs, type GrantRig } from './grantRig.ts';
import { sendModern, createWireClient, type WireClient } from './mcpClient.ts';

type Json = Readonly<Record<string, unknown>>;

const createRig = createGrantRigs();
/** As much as a client can say of itself: pages too, which cannot be asked for here. */
const capabilities = { elicitation: { form: {}, url: {} }, ...tasksExtension };

describe('a task at a server where its user signs in', () => {
  async function begin() {
    const script = scriptedTasks();
    const rig = await createSignedInRig(createRig, { mcp: script });
    const client = await createWireClient(rig.ada, rig.gateway.url);
    const call = async () => {
      const { message } = await sendModern(client, 'tools/call', { name: 'notes__slow' }, { capabilities });
      expect(message.result).toMatchObject({ resultType: 'task' });
      return String(message.result?.['taskId']);
    };
    return { ...rig, client, call, tasks: script.tasks };
  }

  const ask = (client: WireClient, verb: string, taskId: string, more: Json = {}) =>
    sendModern(client, `tasks/${verb}`, { taskId, ...more }, { capabilities });
  const bearersOf = ({ mcp }: Pick<GrantRig, 'mcp'>, method: string) =>
    mcp.guardedRequests
      .filter(({ request }) => request.message?.method === method)
      .map(({ bearer }) => bearer);

  test('hours later, with the token of that moment', async () => {
    const { client, call, clock, mcp, as } = await begin();
    const taskId = await call();
    const [first] = bearersOf({ mcp }, 'tools/call').slice(-1);
    clock.advance(5 * 3_600_000);
    expect((await ask(client, 'get', taskId)).message.result).toMatchObject({ status: 'working' });
    const [later] = bearersOf({ mcp }, 'tasks/get');
    expect(later).not.toBe(first);
    // Refused in between: another one, once, and the client hears nothing of it.
    const refused = later ?? '';
    as.endAccessToken(refused);
    expect((await ask(client, 'cancel', taskId)).message.result).toMatchObject({ resultType: 'complete' });
    const tried = bearersOf({ mcp }, 'tasks/cancel');
    expect([tried.length, tried[0], tried[1] === refused]).toEqual([2, refused, false]);
  });

  test('the one that was let in', async () => {
    const { call, mcp, as, tasks } = await begin();
    const [shown = ''] = bearersOf({ mcp }, 'tools/call').slice(-1);
    as.endAccessToken(shown ?? '');
    await call();
    const tried = bearersOf({ mcp }, 'tools/call').slice(-2);
    expect([tried[0], tried[1] === shown, tasks.size]).toEqual([shown, false, 1]);
  });

  test('that one, and not another that its user chose since', async () => {
    const rig = await begin();
    const { ada, client, call, mcp, connectUser, startSignIn } = rig;
    const taskId = await call();
    const [first] = bearersOf(rig, 'tools/call').slice(-1);
    await connectUser(ada, await startSignIn(ada, { label: 'work' }));
    await ada.send('PATCH', '/api/mcp/notes/credentials/work', { isDefault: true });
    await eventually('the chosen one is used', async () => {
      await ada.call('notes', 'echo');
      return mcp.guardedRequests.at(-1)?.bearer !== first;
    });
    expect((await ask(client, 'get', taskId)).message.result).toMatchObject({ status: 'working' });
    expect(bearersOf(rig, 'tasks/get')).toEqual([first]);
    // And nothing in its place when it is ended.
    await ada.send('DELETE', '/api/mcp/notes/credentials/default');
    const { message } = await ask(client, 'get', taskId);
    expect(message.error?.data).toMatchObject({ code: 'MCP_AUTHORIZATION_REQUIRED' });
    expect(bearersOf(rig, 'tasks/get')).toEqual([first]);
  });

  test('an error that names the page, when there is none any more', async () => {
    const { ada, client, call, gateway, mcp } = await begin();
    const taskId = await call();
    await ada.send('DELETE', '/api/mcp/notes/credentials/default');
    for (const verb of ['get', 'update', 'cancel']) {
      const { status, message } = await ask(client, verb, taskId, { inputResponses: {} });
      expect([verb, status, message.error?.data]).toMatchObject([
        verb,
        200,
        {
          code: 'MCP_AUTHORIZATION_REQUIRED',
          'behalf/auth': { server: 'notes', code: 'needs_reauth' },
        },
      ]);
      const { connectUrl } = message.error?.data?.['behalf/auth'] as { connectUrl: string };
      expect(new URL(connectUrl).pathname).toBe(new URL('/servers/notes', gateway.url).pathname);
    }
    expect(mcp.guardedRequests.some(({ request }) => request.message?.method?.startsWith('tasks/'))).toBe(
      false,
    );
  });

  test('such as the token that the server was shown', async () => {
    const { client, mcp, tasks } = await begin();
    const [token = ''] = bearersOf({ mcp }, 'tools/call').slice(-1);
    const { message: plain } = await sendModern(
      client,
      'tools/call',
      { name: 'notes__slow' },
      { capabilities },
    );
    const taskId = String(plain.result?.['taskId']);
    const [own] = [...tasks.keys()] as [string];
    const params = { mode: 'form', message: token, requestedSchema: { type: 'object', properties: {} } };
    for (const said of [
      { statusMessage: token },
      { status: 'completed', result: { content: [{ type: 'text', text: token }] } },
      { status: 'failed', error: { code: 1, message: token, data: { token } } },
      { status: 'input_required', inputRequests: { a: { method: 'elicitation/create', params } } },
    ]) {
      tasks.set(own, { ...tasks.get(own), ...said });
      const { message } = await ask(client, 'get', taskId);
      expect(JSON.stringify(message.result)).toContain('[redacted]');
      expect(JSON.stringify(message)).not.toContain(token);
    }
    const leaks = { resultType: 'task', taskId: 'x', status: 'working', ttlMs: 1, statusMessage: token };
    mcp.change({ tools: [{ name: 'slow', handler: () => leaks }] });
    const startResponse = await sendModern(client, 'tools/call', { name: 'notes__slow' }, { capabilities });
    expect(startResponse.message.result).toMatchObject({ resultType: 'task', statusMessage: '[redacted]' });
  });
});
