import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConversationView } from '@behalf/contracts';
import type { ScriptStep } from '@behalf/devidp/sample';
import { systemClock, type Clock } from '@behalf/kernel';
import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  sendChat,
  listCalls,
  callThenReport,
  createChatYaml,
  createChatRig,
  extractText,
} from './chatRig.ts';
import { createUsers } from './users.ts';

/** The patience with a model is over soon, and the time that it takes has passed then. */
let ahead = 0;
const clock: Clock = {
  now: () => systemClock.now() + ahead,
  timer(ms, fn, options) {
    if (ms <= 100_000 || ms > 120_000) return systemClock.timer(ms, fn, options);
    const late = () => {
      ahead += ms;
      fn();
    };
    return systemClock.timer(500, late, options);
  },
};
const rig = createChatRig({ clock });
const never = new Promise<never>(() => undefined);
const urls = () => ({ model: rig.model.url, docs: rig.docs.url });

describe('a model', () => {
  const failures: [what: string, steps: ScriptStep[], code: string, says: string, finish: string][] = [
    ['refuses the key', [{ status: 401, body: { error: 'sk-SECRET' } }], 'MODEL_REFUSED', '401', 'error'],
    ['does not know the model', [{ status: 404 }], 'MODEL_REFUSED', '404', 'error'],
    ['asks for time', [{ status: 429 }], 'MODEL_RATE_LIMITED', '429', 'error'],
    ['fails', [{ status: 500 }], 'MODEL_UNAVAILABLE', '500', 'error'],
    ['sends no JSON', ['a', { raw: 'data: {no\n\n' }], 'MODEL_UNAVAILABLE', 'could not be read', 'error'],
    [
      'tells of an error in the middle',
      ['a', { raw: 'data: {"error":{"message":"sk-SECRET"}}\n\n' }],
      'MODEL_UNAVAILABLE',
      'could not be read',
      'error',
    ],
    [
      'sends something else',
      [{ status: 200, body: { choices: [] } }],
      'MODEL_UNAVAILABLE',
      'before the response was complete',
      'error',
    ],
    [
      'falls silent',
      ['a', { until: never }],
      'MODEL_UNAVAILABLE',
      'before the response was complete',
      'error',
    ],
  ];
  for (const [what, steps, code, says, finish] of failures) {
    test(`that ${what} is told as an event, and what it said is kept`, async () => {
      rig.setScript(() => steps);
      const stream = await sendChat(rig.users.ada, { text: what });
      expect(stream.status).toBe(200);
      const done = await stream.waitUntilDone();
      const { problem } = await stream.waitForEvent('error');
      expect([problem.code, done.finish]).toEqual([code, finish]);
      expect(problem.detail).toContain(says);
      expect(done.message).toMatchObject({ problem, finish });
      expect(extractText(done.message)).toBe(steps[0] === 'a' ? 'a' : '');
      expect(JSON.stringify([stream.events, rig.gateway.logged])).not.toContain('SECRET');
      const stored = await (await rig.users.ada.get(`/api/chat/${stream.conversationId}`)).json();
      expect((stored as ConversationView).messages[1]).toEqual(done.message);
    });
  }

  test('that ends in the middle is told as an event, with what it said', async () => {
    let end: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (end = resolve));
    rig.setScript(() => ['Once', { until }, { cut: true }]);
    const stream = await sendChat(rig.users.ada, { text: 'a story' });
    await stream.waitForEvent('text');
    end();
    const { message, finish } = await stream.waitUntilDone();
    expect([extractText(message), finish]).toEqual(['Once', 'error']);
    expect((await stream.waitForEvent('error')).problem.code).toBe('MODEL_UNAVAILABLE');
  });

  test('that does not begin to answer is left after a time', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await rig.gateway.reload(createChatYaml({ ...urls(), model: `http://127.0.0.1:${port}/v1` }));
    const stream = await sendChat(rig.users.ada, { text: 'hello?' });
    await stream.waitUntilDone();
    const { problem } = await stream.waitForEvent('error');
    expect([problem.code, problem.detail]).toEqual([
      'MODEL_UNAVAILABLE',
      expect.stringContaining('did not start responding in time'),
    ]);
    await rig.gateway.reload(createChatYaml(urls()));
    server.closeAllConnections();
    server.close();
  });

  test('that has more to say than it may ends there', async () => {
    rig.setScript(() => ['a', { calls: [{ name: 'greet_mcp_docs', args: '{"a' }] }, { finish: 'length' }]);
    const stream = await sendChat(rig.users.ada, { text: 'much' });
    expect((await stream.waitUntilDone()).finish).toBe('length');
    expect(stream.eventsNamed('tool_call')).toEqual([]);
  });

  test('that points elsewhere is not followed there', async () => {
    let followed = 0;
    const otherServer = createServer((_req, res) => {
      followed += 1;
      res.end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => otherServer.once('listening', resolve));
    const { port } = otherServer.address() as AddressInfo;
    const location = `http://127.0.0.1:${port}/v1/chat/completions`;
    rig.setScript(() => [{ status: 307, headers: { location } }]);
    const stream = await sendChat(rig.users.ada, { text: 'where?' });
    await stream.waitUntilDone();
    const { problem } = await stream.waitForEvent('error');
    expect([problem.code, problem.detail, followed]).toEqual([
      'MODEL_REFUSED',
      expect.stringContaining('redirect'),
      0,
    ]);
    otherServer.close();
  });

  test('is open to the chat alone: no server may have its address', async () => {
    const [admin] = await createUsers(rig.gateway, [{ name: 'Root', role: 'ADMIN' }]);
    const config = { type: 'streamable-http', url: `${new URL(rig.model.url).origin}/mcp`, title: 'Mine' };
    const refused = await admin!.post('/api/mcp/servers', { config });
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'MCP_DOMAIN_NOT_ALLOWED' }]);
    // Nor does the file open it for a server of its own.
    await rig.gateway.reload(
      `${createChatYaml(urls())}  evil: { type: streamable-http, url: '${config.url}' }\n`,
    );
    const requestCount = rig.model.requests.length;
    const { status, body } = await rig.users.ada.call('evil', 'x');
    expect([status, body.code]).toEqual([403, 'MCP_DOMAIN_NOT_ALLOWED']);
    expect(rig.model.requests).toHaveLength(requestCount);
    await rig.gateway.reload(createChatYaml(urls()));
  });

  test('is asked whatever domains servers are limited to', async () => {
    const limited = createChatYaml(urls()).replace(
      'mcpSettings: {',
      "mcpSettings: { allowedDomains: ['example.com'],",
    );
    await rig.gateway.reload(limited);
    rig.setScript(() => ['still here']);
    const stream = await sendChat(rig.users.ada, { text: 'hello?' });
    expect(extractText((await stream.waitUntilDone()).message)).toBe('still here');
    await rig.gateway.reload(createChatYaml(urls()));
  });

  test('comes and goes with the configuration', async () => {
    const { ada } = rig.users;
    const renamed = createChatYaml(urls()).replace('name: Test', 'name: Renamed').replace('one, ', 'uno, ');
    await rig.gateway.reload(renamed);
    rig.setScript(({ model }) => [model]);
    expect(await (await ada.get('/api/chat/models')).json()).toEqual({
      endpoints: [{ name: 'Renamed', models: ['uno', 'two'] }],
    });
    expect(extractText((await (await sendChat(ada, { text: 'who?' })).waitUntilDone()).message)).toBe('uno');
    await rig.gateway.reload(createChatYaml(urls()).replace(/endpoints:[^]*?(?= {2}agents)/, 'endpoints:\n'));
    const none = await sendChat(ada, { text: 'who?' });
    expect([none.status, none.problem?.code]).toEqual([409, 'MODEL_NOT_CONFIGURED']);
    expect(await (await ada.get('/api/chat/models')).json()).toEqual({ endpoints: [] });
    await rig.gateway.reload(createChatYaml(urls()));
  });

  test('hears that a sign-in is needed, and so does the user', async () => {
    const { ada } = rig.users;
    rig.setScript(callThenReport({ name: 'greet_mcp_docs' }));
    await (await sendChat(ada, { text: 'greet' })).waitUntilDone();
    refuse(true);
    const stream = await sendChat(ada, { text: 'greet' });
    const { callId } = await stream.waitForEvent('connect');
    const path = `/api/chat/${stream.conversationId}/connects/${callId}`;
    expect((await ada.post(path, { connected: false })).status).toBe(202);
    const { message } = await stream.waitUntilDone();
    refuse(false);
    expect(stream.events.map(({ event }) => event)).toEqual([
      'tool_call',
      'connect',
      'result',
      'text',
      'done',
    ]);
    const connect = {
      ...{ server: 'docs', title: 'The documents', reason: 'absent', connectUrl: '/servers/docs' },
    };
    expect((await stream.waitForEvent('connect')).connect).toEqual(connect);
    expect((await stream.waitForEvent('result')).call).toMatchObject({ state: 'failed', connect });
    expect(extractText(message)).toContain('ask the user to connect it first');
    expect((await ada.post(path, { connected: true })).status).toBe(404);
  });

  test('goes on with the same call once its user has signed in', async () => {
    const { ada, bob } = rig.users;
    rig.setScript(callThenReport({ name: 'greet_mcp_docs' }));
    refuse(true);
    const stream = await sendChat(ada, { text: 'greet' });
    const { callId } = await stream.waitForEvent('connect');
    refuse(false);
    const path = `/api/chat/${stream.conversationId}/connects/${callId}`;
    expect((await bob.post(path, { connected: true })).status).toBe(404);
    expect((await ada.post(path, { connected: true })).status).toBe(202);
    const { message } = await stream.waitUntilDone();
    expect(stream.events.map(({ event }) => event)).toEqual([
      ...['tool_call', 'connect', 'tool_call', 'result', 'text', 'done'],
    ]);
    expect(listCalls(message)[0]).toMatchObject({ callId, state: 'done' });
    expect(listCalls(message)[0]?.connect).toBeUndefined();
  });

  /** Whether the documents want somebody to sign in. */
  function refuse(isWanted: boolean): void {
    rig.docs.change({
      respond: ({ message }) =>
        isWanted && message?.method === 'tools/call'
          ? { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: '' }
          : undefined,
    });
  }
});

describe('somebody who may not go on', () => {
  test('is not answered further: signed out', async () => {
    const [eve] = await createUsers(rig.gateway, ['Eve']);
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    rig.setScript(callThenReport({ name: 'slow_mcp_docs' }), {
      slow: async () => {
        await ended;
        return { content: [] };
      },
    });
    const stream = await sendChat(eve!, { text: 'work' });
    await stream.waitForEvent('tool_call');
    const requestCount = rig.model.requests.length;
    expect((await eve!.post('/api/auth/logout')).status).toBe(204);
    end();
    const { finish } = await stream.waitUntilDone();
    expect([(await stream.waitForEvent('error')).problem.code, finish]).toEqual(['AUTH_REQUIRED', 'error']);
    expect(rig.model.requests).toHaveLength(requestCount);
  });

  test('is not answered at all: their role may not use servers', async () => {
    const [admin, guest] = await createUsers(rig.gateway, [
      { name: 'Chief', role: 'ADMIN' },
      { name: 'Gil', role: 'USER' },
    ]);
    const stream = await (async () => {
      rig.setScript(() => [{ calls: [{ name: 'greet_mcp_docs' }] }]);
      return sendChat(guest!, { text: 'for ever' });
    })();
    await stream.waitForEvent('result');
    const name = { name: 'GUEST', permissions: { MCP_SERVERS: { USE: false } } };
    expect((await admin!.post('/api/admin/roles', name)).status).toBe(201);
    const changed = await admin!.send('PATCH', `/api/admin/users/${guest!.id}`, { role: 'GUEST' });
    expect(changed.status).toBe(200);
    await stream.waitUntilDone();
    const refused = await eventually('the new role counts', async () => {
      const answer = await sendChat(guest!, { text: 'me?' });
      if (answer.status === 200) await answer.waitUntilDone();
      return answer.status === 403 && answer;
    });
    expect(refused.problem?.code).toBe('MCP_FORBIDDEN');
    expect((await guest!.get('/api/chat/models')).status).toBe(403);
    // What they said before stays theirs.
    expect((await guest!.get(`/api/chat/${stream.conversationId}`)).status).toBe(200);
  });
});
