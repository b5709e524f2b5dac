import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createGatewayRig } from '../../../../test/scenarios/gatewayRig.ts';
import { httpDefinition, renderYaml } from '../../../../test/scenarios/serverYaml.ts';
import type { TestUser } from '../../../../test/scenarios/users.ts';

const refusal = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer realm="planted", error="invalid_token"' },
} as const;

describe('the doors to the servers', () => {
  const rig = createGatewayRig();
  const begin = async (servers: Record<string, object>, more: object = {}): Promise<TestUser> => {
    const [ada] = (await rig.start(renderYaml(servers, more))) as [TestUser];
    return ada;
  };

  test('a sign-in that is needed is a result, and never a 401 of ours', async () => {
    const guarded = await rig.startServer({ era: 'legacy', respond: () => refusal });
    const later = await rig.startServer({
      era: 'legacy',
      tools: [{ name: 'echo' }],
      respond: ({ message }) => (message?.method === 'tools/call' ? refusal : undefined),
    });
    const ada = await begin({
      declared: httpDefinition(guarded.url, { requiresOAuth: true, title: 'The Calendar' }),
      silent: httpDefinition(guarded.url),
      late: httpDefinition(later.url),
    });
    for (const name of ['declared', 'silent', 'late']) {
      const response = await ada.post(`/api/mcp/servers/${name}/tools/echo/call`, { arguments: {} });
      expect([name, response.status, response.headers.get('www-authenticate')]).toEqual([name, 200, null]);
      expect(await response.json()).toEqual({
        content: [
          {
            type: 'text',
            text: `The server "${name === 'declared' ? 'The Calendar' : name}" needs you to sign in before its tools can be used. Do not retry: ask the user to connect it first.`,
          },
        ],
        isError: true,
        _meta: {
          'behalf/auth': {
            code: 'needs_reauth',
            server: name,
            reason: 'absent',
            connectUrl: `/servers/${name}`,
            retryable: false,
          },
        },
      });
    }
    // Nothing went to the one that needs a sign-in by its definition.
    expect(later.received('tools/call')).toHaveLength(1);
  });

  test('where there is no result to put it into, it is an error with a code', async () => {
    const guarded = await rig.startServer({ era: 'legacy', respond: () => refusal });
    const ada = await begin({
      declared: httpDefinition(guarded.url, { requiresOAuth: true }),
      silent: httpDefinition(guarded.url),
    });
    for (const name of ['declared', 'silent']) {
      for (const response of [
        await ada.get(`/api/mcp/servers/${name}/resources`),
        await ada.post(`/api/mcp/servers/${name}/resources/read`, { uri: 'a:b' }),
        await ada.post(`/api/mcp/servers/${name}/prompts/p/get`, {}),
      ]) {
        expect([response.url, response.status, response.headers.get('www-authenticate')]).toEqual([
          response.url,
          424,
          null,
        ]);
        expect(await response.json()).toMatchObject({ code: 'MCP_AUTHORIZATION_REQUIRED' });
      }
    }
  });

  test('a key that is refused is a wrong key', async () => {
    const guarded = await rig.startServer({ era: 'legacy', respond: () => refusal });
    const ada = await begin({ keyed: httpDefinition(guarded.url, { headers: { 'X-Api-Key': 'wrong' } }) });
    const { status, body } = await ada.call('keyed', 'echo');
    expect([status, body.code]).toEqual([502, 'MCP_CREDENTIAL_REJECTED']);
    expect(JSON.stringify(body)).not.toContain('planted');
  });

  test('a role that may not use servers is refused at every door to one', async () => {
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    const ada = await begin(
      { own: httpDefinition(server.url, { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } }) },
      { interface: { mcpServers: { use: false } } },
    );
    const isDoor = (path: string) => /^\/api\/(mcp\/|user\/plugins$)/.test(path);
    // The diagnosis says so in its first step; browsers on their way to or from a sign-in are told on a page.
    const tellOtherwise = ['/diagnose', '/oauth/callback'];
    const doors = rig.gateway.routes.filter(
      ({ path }) => isDoor(path) && !tellOtherwise.some((end) => path.endsWith(end)),
    );
    expect(doors.length).toBeGreaterThanOrEqual(11);
    const bodies: Record<string, object> = {
      '/api/mcp/servers/:serverName/resources/read': { uri: 'a:b' },
      '/api/mcp/servers': { config: {} },
      '/api/mcp/servers/:serverName': { config: {} },
      '/api/mcp/servers/check': { config: {} },
      '/api/mcp/discover-tools': { url: 'http://nowhere.example/mcp' },
      '/api/mcp/blocks': { server: 'own', tool: 'echo' },
      '/api/mcp/blocks/:id': { title: 'Another' },
      '/api/mcp/blocks/check': { ids: ['echo'] },
      '/api/mcp/sets': { title: 'Set', steps: [{ key: 'a', block: 'echo' }] },
      '/api/mcp/sets/:id': { title: 'Another' },
      '/api/mcp/approvals/:id': { approve: true },
      '/api/mcp/:serverName/credentials/:label': { isDefault: true },
      '/api/mcp/:serverName/credential': { accessToken: 'a' },
      '/api/user/plugins': { pluginKey: 'mcp_own', action: 'install', auth: {} },
    };
    for (const { method, path } of doors) {
      for (const name of ['own', 'nowhere']) {
        const at = path.replace(':serverName', name).replace(/:[a-zA-Z]+/g, 'echo');
        const body = { ...bodies[path], ...(path.endsWith('plugins') && { pluginKey: `mcp_${name}` }) };
        const response =
          method === 'get' ? await ada.get(at) : await ada.send(method.toUpperCase(), at, body);
        expect([method, at, response.status]).toEqual([method, at, 403]);
        expect(await response.json()).toMatchObject({ code: 'MCP_FORBIDDEN' });
      }
    }
    expect(server.requests).toHaveLength(0);
    // The same doors open with the permission, so it was this that closed them.
    await rig.gateway.reload(renderYaml({ own: httpDefinition(server.url) }));
    expect((await ada.get('/api/mcp/tools')).status).toBe(200);
    expect((await ada.call('own', 'echo')).status).toBe(200);
  });

  const chat = { 'x-chat': '{{LIBRECHAT_BODY_CONVERSATIONID}}' };
  const call = (user: TestUser, request: object | undefined, server = 'chatty') =>
    user.post(`/api/mcp/servers/${server}/tools/echo/call`, { arguments: {}, ...(request && { request }) });

  test('the fields of a request arrive with it, and with no other', async () => {
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    const ada = await begin({ chatty: httpDefinition(server.url, { headers: chat }) });
    for (const conversationId of ['one', 'two']) {
      expect((await call(ada, { conversationId })).status).toBe(200);
    }
    await Promise.all(['three', 'four'].map((conversationId) => call(ada, { conversationId })));
    // The same conversation twice is two requests as well.
    await call(ada, { conversationId: 'one' });
    const calls = server.received('tools/call');
    expect(calls.map(({ headers }) => headers['x-chat']).sort()).toEqual([
      'four',
      'one',
      'one',
      'three',
      'two',
    ]);
    const sessions = calls.map(({ headers }) => String(headers['mcp-session-id']));
    expect(new Set(sessions).size).toBe(5);
    // Within its session everything bears the one field, and nothing is kept when it is over.
    for (const [index, session] of sessions.entries()) {
      const within = server.requests.filter(({ headers }) => headers['mcp-session-id'] === session);
      expect(new Set(within.map(({ headers }) => headers['x-chat']))).toEqual(
        new Set([calls[index]?.headers['x-chat']]),
      );
    }
    await eventually('the sessions to end', () => server.sessions.size === 0);
  });

  test('two calls of one conversation at once are two sessions', async () => {
    let arrived = 0;
    let both: () => void = () => undefined;
    const together = new Promise<void>((resolve) => (both = resolve));
    const echo = {
      name: 'echo',
      handler: async () => {
        arrived += 1;
        if (arrived === 2) both();
        await together;
        return { content: [] };
      },
    };
    const server = await rig.startServer({ era: 'legacy', tools: [echo] });
    const ada = await begin({ chatty: httpDefinition(server.url, { headers: chat }) });
    const request = { conversationId: 'one' };
    const answers = await Promise.all([call(ada, request), call(ada, request)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const sessions = server.received('tools/call').map(({ headers }) => headers['mcp-session-id']);
    expect(new Set(sessions).size).toBe(2);
  });

  test('a field that is missing is named, and nothing is sent', async () => {
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    const ada = await begin({ chatty: httpDefinition(server.url, { headers: chat }) });
    for (const request of [undefined, {}, { messageId: 'm' }]) {
      const response = await call(ada, request);
      expect([request, response.status]).toEqual([request, 400]);
      const body = (await response.json()) as { code: string; detail: string };
      expect(body.code).toBe('REQUEST_INVALID');
      expect(body.detail).toContain('LIBRECHAT_BODY_CONVERSATIONID');
    }
    const wrong = await call(ada, { conversationId: 'a', other: 'b' });
    expect(wrong.status).toBe(400);
    expect(server.requests).toHaveLength(0);
  });

  test('what is read takes the same fields', async () => {
    const server = await rig.startServer({
      era: 'legacy',
      capabilities: { resources: {} },
      methods: { 'resources/read': () => ({ contents: [] }) },
    });
    const ada = await begin({ chatty: httpDefinition(server.url, { headers: chat }) });
    const path = '/api/mcp/servers/chatty/resources/read';
    const response = await ada.post(path, { uri: 'a:b', request: { conversationId: 'one' } });
    // No isError here: it is a word of tools alone.
    expect([response.status, await response.json()]).toEqual([200, { contents: [] }]);
    expect(server.received('resources/read')[0]?.headers['x-chat']).toBe('one');
  });
});
