import type { ToolsView } from '@behalf/contracts';
import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

/** Answers with the credential it was shown. */
const whoami = {
  name: 'whoami',
  handler: (_args: object, { request }: { request: { headers: Record<string, unknown> } }) => ({
    content: [{ type: 'text', text: String(request.headers['x-key']) }],
  }),
};

const keyed = (url: string, more: object = {}) =>
  httpDefinition(url, {
    headers: { 'x-key': '{{KEY}}' },
    customUserVars: { KEY: { title: 'Key', description: 'Your key' } },
    ...more,
  });

describe('what belongs to one user', () => {
  const rig = createGatewayRig();
  const begin = (servers: Record<string, object>, names: readonly string[]) =>
    rig.start(renderYaml(servers), names);
  const setKey = async (user: TestUser, server: string, KEY: string) => {
    const body = { pluginKey: `mcp_${server}`, action: 'install', auth: { KEY } };
    expect((await user.post('/api/user/plugins', body)).status).toBe(200);
  };

  for (const era of ['legacy', 'modern'] as const) {
    test(`1,000 interleaved calls of two users, never the other's credential or session: ${era}`, async () => {
      const server = await rig.startServer({ era, tools: [whoami] });
      const users = (await begin({ mine: keyed(server.url) }, ['Ada', 'Bob'])) as [TestUser, TestUser];
      const keys = ['key-of-ada', 'key-of-bob'];
      for (const [index, user] of users.entries()) await setKey(user, 'mine', keys[index]!);
      await Promise.all(
        Array.from({ length: 20 }, async (_, lane) => {
          for (let turn = 0; turn < 50; turn += 1) {
            const who = (lane + turn) % 2;
            const { body } = await users[who]!.call('mine', 'whoami');
            expect(body.content?.[0]?.text).toBe(keys[who]);
          }
        }),
      );
      const calls = server.received('tools/call');
      expect(calls).toHaveLength(1_000);
      const sessionsOf = (key: string) =>
        new Set(
          calls
            .filter(({ headers }) => headers['x-key'] === key)
            .map(({ headers }) => headers['mcp-session-id']),
        );
      const [ofAda, ofBob] = [sessionsOf(keys[0]!), sessionsOf(keys[1]!)];
      expect([ofAda.size, ofBob.size]).toEqual([1, 1]);
      if (era === 'legacy') expect([...ofAda][0]).not.toBe([...ofBob][0]);
      else expect([...ofAda, ...ofBob]).toEqual([undefined, undefined]);
    }, 120_000);
  }

  test('a shared server never receives a user’s header', async () => {
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    const [ada, bob] = (await begin(
      { shared: httpDefinition(server.url, { headers: { 'x-team': 'one' } }) },
      ['Ada', 'Bob'],
    )) as [TestUser, TestUser];
    for (const user of [ada, bob, ada, bob]) {
      const planted = {
        'proxy-authorization': 'Bearer planted',
        'x-key': 'planted',
        'mcp-session-id': 'planted',
      };
      expect((await user.call('shared', 'echo', {}, { headers: planted })).status).toBe(200);
    }
    const sessions = new Set(server.received('tools/call').map(({ headers }) => headers['mcp-session-id']));
    expect(sessions.size).toBe(1);
    for (const { headers, text } of server.requests) {
      expect(JSON.stringify(headers)).not.toContain('planted');
      expect(headers['cookie']).toBeUndefined();
      for (const { id, cookie } of [ada, bob]) {
        expect(JSON.stringify(headers) + text).not.toContain(id);
        expect(JSON.stringify(headers) + text).not.toContain(cookie);
      }
    }
  });

  test('a secret arrives byte for byte', async () => {
    const server = await rig.startServer({ era: 'legacy', tools: [whoami] });
    const [ada] = (await begin({ mine: keyed(server.url) }, ['Ada'])) as [TestUser];
    for (const secret of ['ab$$cd$&ef', '$`$1${HOME}', '{{KEY}}{{LIBRECHAT_USER_ID}}']) {
      await setKey(ada, 'mine', secret);
      expect((await ada.call('mine', 'whoami')).body.content?.[0]?.text).toBe(secret);
    }
    const dump = JSON.stringify(rig.gateway.logged);
    expect(dump).not.toContain('ab$$cd$&ef');
  });

  test('a value is stored and never given back', async () => {
    const server = await rig.startServer({ era: 'legacy', tools: [whoami] });
    const [ada, bob] = (await begin({ mine: keyed(server.url) }, ['Ada', 'Bob'])) as [TestUser, TestUser];
    const flags = async (user: TestUser) =>
      (await (await user.get('/api/mcp/mine/auth-values')).json()) as object;
    expect(await flags(ada)).toEqual({
      success: true,
      serverName: 'mine',
      authValueFlags: { KEY: false },
    });
    await setKey(ada, 'mine', 'planted-secret');
    expect(await flags(ada)).toMatchObject({ authValueFlags: { KEY: true } });
    expect(await flags(bob)).toMatchObject({ authValueFlags: { KEY: false } });
    for (const path of ['/api/mcp/tools', '/api/mcp/connection/status', '/api/mcp/mine/auth-values']) {
      expect(await (await ada.get(path)).text()).not.toContain('planted-secret');
    }
    const refused = await ada.post('/api/user/plugins', {
      pluginKey: 'mcp_mine',
      action: 'install',
      auth: { LIBRECHAT_USER_ID: 'somebody else' },
    });
    expect(refused.status).toBe(400);
    await ada.post('/api/user/plugins', { pluginKey: 'mcp_mine', action: 'uninstall', auth: {} });
    expect(await flags(ada)).toMatchObject({ authValueFlags: { KEY: false } });
    const without = await ada.call('mine', 'whoami');
    expect([without.status, without.body.code]).toEqual([424, 'MCP_USER_VARS_MISSING']);
    expect(without.body.errors?.[0]?.path).toBe('KEY');
  });

  test('a value entered at one replica ends what another had listed with the old one', async () => {
    const listed = (key: unknown) => ({ tools: [{ name: `of-${String(key)}`, inputSchema: {} }] });
    // Of the legacy era: nothing that it says of its list ends it.
    const server = await rig.startServer({
      era: 'legacy',
      methods: { 'tools/list': (_params, { request }) => listed(request.headers['x-key']) },
    });
    const here = (await begin({ mine: keyed(server.url) }, ['Ada'])) as [TestUser];
    const [there] = (await rig.startReplica(here)) as [TestUser];
    const tools = async (user: TestUser) => {
      const view = (await (await user.get('/api/mcp/tools')).json()) as ToolsView;
      return view.servers['mine']!.tools.map(({ name }) => name);
    };
    await setKey(here[0], 'mine', 'old');
    expect(await tools(there)).toEqual(['of-old']);
    await setKey(here[0], 'mine', 'new');
    await eventually('the other one to list anew', async () => (await tools(there))[0] === 'of-new', 3_000);
  });

  test('seven users connecting to one healthy server are all served', async () => {
    const server = await rig.startServer({ era: 'legacy', tools: [whoami] });
    const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G'].map((letter) => `User${letter}`);
    const users = await begin({ mine: keyed(server.url) }, names);
    for (const [index, user] of users.entries()) await setKey(user, 'mine', `key-${index}`);
    const answers = await Promise.all(users.map((user) => user.call('mine', 'whoami')));
    expect(answers.map(({ body }) => body.content?.[0]?.text)).toEqual(names.map((_, i) => `key-${i}`));
    expect(server.sessions.size).toBe(7);
  });

  test('the first call after a lost session succeeds, and runs once', async () => {
    let ran = 0;
    const count = {
      name: 'count',
      handler: () => ({ content: [{ type: 'text', text: String((ran += 1)) }] }),
    };
    const server = await rig.startServer({ era: 'legacy', tools: [count] });
    const [ada] = (await begin({ plain: httpDefinition(server.url) }, ['Ada'])) as [TestUser];
    await ada.call('plain', 'count');
    server.forgetSessions();
    expect((await ada.call('plain', 'count')).body.content?.[0]?.text).toBe('2');
    expect(ran).toBe(2);
  });

  test('a ping of the server is answered in the middle of a call', async () => {
    const ask = {
      name: 'ask',
      handler: async (
        _args: object,
        call: { sendRequest(method: string, params: object): Promise<object> },
      ) => ({
        content: [{ type: 'text', text: JSON.stringify(await call.sendRequest('ping', {})) }],
      }),
    };
    const server = await rig.startServer({ era: 'legacy', tools: [ask] });
    const [ada] = (await begin({ plain: httpDefinition(server.url) }, ['Ada'])) as [TestUser];
    const { body } = await ada.call('plain', 'ask');
    expect(JSON.parse(body.content?.[0]?.text ?? '{}')).toMatchObject({ result: {} });
  });

  test('trace context goes through; what is malformed does not', async () => {
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    const [ada] = (await begin({ plain: httpDefinition(server.url) }, ['Ada'])) as [TestUser];
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await ada.call('plain', 'echo', {}, { headers: { traceparent, tracestate: 'a=b', baggage: 'k=v' } });
    await ada.call('plain', 'echo', {}, { headers: { traceparent: 'nonsense', tracestate: 'a=b' } });
    const [first, second] = server.received('tools/call');
    expect(first?.headers).toMatchObject({ traceparent, tracestate: 'a=b', baggage: 'k=v' });
    expect(first?.message?.params?.['_meta']).toMatchObject({ traceparent });
    expect(second?.headers['traceparent']).toBeUndefined();
    expect(second?.headers['tracestate']).toBeUndefined();
  });
});
