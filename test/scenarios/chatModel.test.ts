import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConversationView } from '@behalf/contracts';
import type { ScriptStep } from '@behalf/devidp/sample';
import { systemClock, type Clock } from '@behalf/kernel';
import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { ask, callsIn, callThenReport, chatYaml, createChatScene, textIn } from './chatScene.ts';
import { createPeople } from './people.ts';

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
const scene = createChatScene({ clock });
const never = new Promise<never>(() => undefined);
const urls = () => ({ model: scene.model.url, docs: scene.docs.url });

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
      'in the middle of its response',
      'error',
    ],
    ['falls silent', ['a', { until: never }], 'MODEL_UNAVAILABLE', 'in the middle of its response', 'error'],
  ];
  for (const [what, steps, code, says, finish] of failures) {
    test(`that ${what} is told as an event, and what it said is kept`, async () => {
      scene.play(() => steps);
      const heard = await ask(scene.people.ada, { text: what });
      expect(heard.status).toBe(200);
      const done = await heard.done();
      const { problem } = await heard.next('error');
      expect([problem.code, done.finish]).toEqual([code, finish]);
      expect(problem.detail).toContain(says);
      expect(done.message).toMatchObject({ problem, finish });
      expect(textIn(done.message)).toBe(steps[0] === 'a' ? 'a' : '');
      expect(JSON.stringify([heard.events, scene.gateway.logged])).not.toContain('SECRET');
      const kept = await (await scene.people.ada.get(`/api/chat/${heard.conversationId}`)).json();
      expect((kept as ConversationView).messages[1]).toEqual(done.message);
    });
  }

  test('that ends in the middle is told as an event, with what it said', async () => {
    let end: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (end = resolve));
    scene.play(() => ['Once', { until }, { cut: true }]);
    const heard = await ask(scene.people.ada, { text: 'a story' });
    await heard.next('text');
    end();
    const { message, finish } = await heard.done();
    expect([textIn(message), finish]).toEqual(['Once', 'error']);
    expect((await heard.next('error')).problem.code).toBe('MODEL_UNAVAILABLE');
  });

  test('that does not begin to answer is left after a time', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await scene.gateway.configure(chatYaml({ ...urls(), model: `http://127.0.0.1:${port}/v1` }));
    const heard = await ask(scene.people.ada, { text: 'hello?' });
    await heard.done();
    const { problem } = await heard.next('error');
    expect([problem.code, problem.detail]).toEqual([
      'MODEL_UNAVAILABLE',
      expect.stringContaining('did not start responding in time'),
    ]);
    await scene.gateway.configure(chatYaml(urls()));
    server.closeAllConnections();
    server.close();
  });

  test('that has more to say than it may ends there', async () => {
    scene.play(() => ['a', { calls: [{ name: 'greet_mcp_docs', args: '{"a' }] }, { finish: 'length' }]);
    const heard = await ask(scene.people.ada, { text: 'much' });
    expect((await heard.done()).finish).toBe('length');
    expect(heard.all('tool_call')).toEqual([]);
  });

  test('that points elsewhere is not followed there', async () => {
    let followed = 0;
    const elsewhere = createServer((_req, res) => {
      followed += 1;
      res.end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => elsewhere.once('listening', resolve));
    const { port } = elsewhere.address() as AddressInfo;
    const location = `http://127.0.0.1:${port}/v1/chat/completions`;
    scene.play(() => [{ status: 307, headers: { location } }]);
    const heard = await ask(scene.people.ada, { text: 'where?' });
    await heard.done();
    const { problem } = await heard.next('error');
    expect([problem.code, problem.detail, followed]).toEqual([
      'MODEL_REFUSED',
      expect.stringContaining('redirect'),
      0,
    ]);
    elsewhere.close();
  });

  test('is open to the chat alone: no server may have its address', async () => {
    const [admin] = await createPeople(scene.gateway, [{ name: 'Root', role: 'ADMIN' }]);
    const config = { type: 'streamable-http', url: `${new URL(scene.model.url).origin}/mcp`, title: 'Mine' };
    const refused = await admin!.post('/api/mcp/servers', { config });
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'MCP_DOMAIN_NOT_ALLOWED' }]);
    // Nor does the file open it for a server of its own.
    await scene.gateway.configure(
      `${chatYaml(urls())}  evil: { type: streamable-http, url: '${config.url}' }\n`,
    );
    const asked = scene.model.requests.length;
    const { status, body } = await scene.people.ada.call('evil', 'x');
    expect([status, body.code]).toEqual([403, 'MCP_DOMAIN_NOT_ALLOWED']);
    expect(scene.model.requests).toHaveLength(asked);
    await scene.gateway.configure(chatYaml(urls()));
  });

  test('is asked whatever domains servers are limited to', async () => {
    const limited = chatYaml(urls()).replace(
      'mcpSettings: {',
      "mcpSettings: { allowedDomains: ['example.com'],",
    );
    await scene.gateway.configure(limited);
    scene.play(() => ['still here']);
    const heard = await ask(scene.people.ada, { text: 'hello?' });
    expect(textIn((await heard.done()).message)).toBe('still here');
    await scene.gateway.configure(chatYaml(urls()));
  });

  test('comes and goes with the configuration', async () => {
    const { ada } = scene.people;
    const renamed = chatYaml(urls()).replace('name: Test', 'name: Renamed').replace('one, ', 'uno, ');
    await scene.gateway.configure(renamed);
    scene.play(({ model }) => [model]);
    expect(await (await ada.get('/api/chat/models')).json()).toEqual({
      endpoints: [{ name: 'Renamed', models: ['uno', 'two'] }],
    });
    expect(textIn((await (await ask(ada, { text: 'who?' })).done()).message)).toBe('uno');
    await scene.gateway.configure(chatYaml(urls()).replace(/endpoints:[^]*?(?= {2}agents)/, 'endpoints:\n'));
    const none = await ask(ada, { text: 'who?' });
    expect([none.status, none.problem?.code]).toEqual([409, 'MODEL_NOT_CONFIGURED']);
    expect(await (await ada.get('/api/chat/models')).json()).toEqual({ endpoints: [] });
    await scene.gateway.configure(chatYaml(urls()));
  });

  test('hears that a sign-in is needed, and so does the user', async () => {
    const { ada } = scene.people;
    scene.play(callThenReport({ name: 'greet_mcp_docs' }));
    await (await ask(ada, { text: 'greet' })).done();
    refuse(true);
    const heard = await ask(ada, { text: 'greet' });
    const { callId } = await heard.next('connect');
    const path = `/api/chat/${heard.conversationId}/connects/${callId}`;
    expect((await ada.post(path, { connected: false })).status).toBe(202);
    const { message } = await heard.done();
    refuse(false);
    expect(heard.events.map(({ event }) => event)).toEqual([
      'tool_call',
      'connect',
      'result',
      'text',
      'done',
    ]);
    const connect = {
      ...{ server: 'docs', title: 'The documents', reason: 'absent', connectUrl: '/servers/docs' },
    };
    expect((await heard.next('connect')).connect).toEqual(connect);
    expect((await heard.next('result')).call).toMatchObject({ state: 'failed', connect });
    expect(textIn(message)).toContain('ask the user to connect it first');
    expect((await ada.post(path, { connected: true })).status).toBe(404);
  });

  test('goes on with the same call once its user has signed in', async () => {
    const { ada, bob } = scene.people;
    scene.play(callThenReport({ name: 'greet_mcp_docs' }));
    refuse(true);
    const heard = await ask(ada, { text: 'greet' });
    const { callId } = await heard.next('connect');
    refuse(false);
    const path = `/api/chat/${heard.conversationId}/connects/${callId}`;
    expect((await bob.post(path, { connected: true })).status).toBe(404);
    expect((await ada.post(path, { connected: true })).status).toBe(202);
    const { message } = await heard.done();
    expect(heard.events.map(({ event }) => event)).toEqual([
      ...['tool_call', 'connect', 'tool_call', 'result', 'text', 'done'],
    ]);
    expect(callsIn(message)[0]).toMatchObject({ callId, state: 'done' });
    expect(callsIn(message)[0]?.connect).toBeUndefined();
  });

  /** Whether the documents want somebody to sign in. */
  function refuse(isWanted: boolean): void {
    scene.docs.change({
      respond: ({ message }) =>
        isWanted && message?.method === 'tools/call'
          ? { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: '' }
          : undefined,
    });
  }
});

describe('somebody who may not go on', () => {
  test('is not answered further: signed out', async () => {
    const [eve] = await createPeople(scene.gateway, ['Eve']);
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    scene.play(callThenReport({ name: 'slow_mcp_docs' }), {
      slow: async () => {
        await ended;
        return { content: [] };
      },
    });
    const heard = await ask(eve!, { text: 'work' });
    await heard.next('tool_call');
    const asked = scene.model.requests.length;
    expect((await eve!.post('/api/auth/logout')).status).toBe(204);
    end();
    const { finish } = await heard.done();
    expect([(await heard.next('error')).problem.code, finish]).toEqual(['AUTH_REQUIRED', 'error']);
    expect(scene.model.requests).toHaveLength(asked);
  });

  test('is not answered at all: their role may not use servers', async () => {
    const [admin, guest] = await createPeople(scene.gateway, [
      { name: 'Chief', role: 'ADMIN' },
      { name: 'Gil', role: 'USER' },
    ]);
    const heard = await (async () => {
      scene.play(() => [{ calls: [{ name: 'greet_mcp_docs' }] }]);
      return ask(guest!, { text: 'for ever' });
    })();
    await heard.next('result');
    const name = { name: 'GUEST', permissions: { MCP_SERVERS: { USE: false } } };
    expect((await admin!.post('/api/admin/roles', name)).status).toBe(201);
    const changed = await admin!.send('PATCH', `/api/admin/users/${guest!.id}`, { role: 'GUEST' });
    expect(changed.status).toBe(200);
    await heard.done();
    const refused = await eventually('the new role counts', async () => {
      const answer = await ask(guest!, { text: 'me?' });
      if (answer.status === 200) await answer.done();
      return answer.status === 403 && answer;
    });
    expect(refused.problem?.code).toBe('MCP_FORBIDDEN');
    expect((await guest!.get('/api/chat/models')).status).toBe(403);
    // What they said before stays theirs.
    expect((await guest!.get(`/api/chat/${heard.conversationId}`)).status).toBe(200);
  });
});
