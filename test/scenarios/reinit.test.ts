import { describe, expect, test } from '@jest/globals';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

interface Reinitialized {
  success: boolean;
  message: string;
  oauthRequired: boolean;
  oauthUrl: string | null;
  tools: { name: string }[] | null;
  availableTools: Record<string, unknown> | null;
  failureReason?: string;
  missingUserVars?: string[];
  code?: string;
}

const refusal = { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } } as const;
const tools = [{ name: 'search' }];

describe('reinitialising a server', () => {
  const rig = createGatewayRig();
  let ada: TestUser;
  const begin = async (servers: Record<string, object>): Promise<void> => {
    [ada] = (await rig.start(renderYaml(servers))) as [TestUser];
  };
  async function reinit(name: string, body: object = {}): Promise<Reinitialized> {
    const response = await ada.post(`/api/mcp/${name}/reinitialize`, body);
    expect(response.status).toBe(200);
    return (await response.json()) as Reinitialized;
  }

  test('a server that works says so, with its tools', async () => {
    const { url } = await rig.startServer({ era: 'legacy', tools });
    await begin({ plain: httpDefinition(url) });
    expect(await reinit('plain')).toMatchObject({
      success: true,
      message: "MCP server 'plain' reinitialized successfully",
      oauthRequired: false,
      oauthUrl: null,
      tools: [{ name: 'search' }],
      availableTools: { search_mcp_plain: { type: 'function' } },
    });
  });

  for (const [letter, era, guarded] of [
    ['a', 'legacy', ['tools/call']],
    ['b', 'modern', ['tools/call']],
    ['c', 'legacy', ['server/discover', 'initialize']],
  ] as const) {
    test(`(${letter}) tools that a server shows to anybody are found without a sign-in: ${era}, guarded ${guarded.join(', ')}`, async () => {
      const server = await rig.startServer({
        era,
        tools,
        sessions: letter !== 'c',
        respond: ({ message }) =>
          guarded.some((method) => method === message?.method) ? refusal : undefined,
      });
      await begin({
        secured: httpDefinition(server.url, {
          requiresOAuth: true,
          headers: { 'x-team': 'one', 'x-api-key': 'planted-key', 'x-user': '{{LIBRECHAT_USER_ID}}' },
        }),
      });
      expect(await reinit('secured')).toMatchObject({
        success: true,
        message: "MCP server 'secured' tools discovered, OAuth required for execution",
        oauthRequired: true,
        oauthUrl: null,
        tools: [{ name: 'search' }],
      });
      // Bare means bare.
      expect(server.requests.length).toBeGreaterThan(0);
      for (const { headers, text } of server.requests) {
        expect(headers['authorization']).toBeUndefined();
        expect(headers['x-api-key']).toBeUndefined();
        expect(headers['x-user']).toBeUndefined();
        expect(text).not.toContain(ada.id);
      }
      const called = await ada.call('secured', 'search', {});
      expect(called).toMatchObject({
        status: 200,
        body: {
          isError: true,
          _meta: { 'behalf/auth': { code: 'needs_reauth', server: 'secured', reason: 'absent' } },
        },
      });
      expect(server.received('tools/call')).toHaveLength(0);
    });
  }

  test('(d) a server that answers 401 to everything waits for a sign-in', async () => {
    const { url } = await rig.startServer({ era: 'legacy', respond: () => refusal });
    await begin({ secured: httpDefinition(url, { requiresOAuth: true }) });
    expect(await reinit('secured')).toMatchObject({
      success: false,
      message: "MCP server 'secured' ready for OAuth authentication",
      oauthRequired: true,
      oauthUrl: null,
      tools: null,
      failureReason: 'oauth_required',
      code: 'MCP_AUTHORIZATION_UNAVAILABLE',
    });
    const status = (await (await ada.get('/api/mcp/connection/status/secured')).json()) as object;
    expect(status).toMatchObject({ requiresOAuth: true, authorizationState: 'needs_authorization' });
  });

  test('the same without the file saying so', async () => {
    const { url } = await rig.startServer({ era: 'legacy', respond: () => refusal });
    await begin({ silent: httpDefinition(url) });
    expect(await reinit('silent')).toMatchObject({ success: false, oauthRequired: true });
  });

  test('a key that the server refuses is not a sign-in that is missing', async () => {
    const server = await rig.startServer({ era: 'legacy', respond: () => refusal });
    await begin({
      keyed: httpDefinition(server.url, {
        apiKey: { source: 'admin', authorization_type: 'bearer', key: 'k-123456' },
      }),
    });
    expect(await reinit('keyed')).toMatchObject({
      success: false,
      oauthRequired: false,
      failureReason: 'initialization_failed',
      code: 'MCP_CREDENTIAL_REJECTED',
    });
    // No attempt went out bare.
    for (const { headers } of server.requests) expect(headers['authorization']).toBe('Bearer k-123456');
  });

  test('(e) a server that is down is unreachable, whatever its name', async () => {
    const server = await rig.startServer({ era: 'legacy' });
    await server.close();
    await begin({ 'OAuth-401': httpDefinition(server.url) });
    expect(await reinit('OAuth-401')).toMatchObject({
      success: false,
      oauthRequired: false,
      failureReason: 'unreachable',
      code: 'MCP_UNREACHABLE',
    });
  });

  test('(f) values that are missing are named, and nothing is sent', async () => {
    const server = await rig.startServer({ era: 'legacy', tools });
    await begin({
      mine: httpDefinition(server.url, {
        headers: { 'x-key': '{{MY_KEY}}' },
        customUserVars: { MY_KEY: { title: 'Key', description: 'Your key' } },
      }),
    });
    expect(await reinit('mine')).toMatchObject({
      success: false,
      message: "MCP server 'mine' requires user-provided variable(s) [MY_KEY] which are not set",
      oauthRequired: false,
      failureReason: 'missing_custom_user_vars',
      missingUserVars: ['MY_KEY'],
    });
    expect(server.requests).toHaveLength(0);
    await ada.post('/api/user/plugins', {
      pluginKey: 'mcp_mine',
      action: 'install',
      auth: { MY_KEY: 'k' },
    });
    expect(await reinit('mine')).toMatchObject({ success: true, tools: [{ name: 'search' }] });
  });

  test('a server that came back shows what it has now', async () => {
    const server = await rig.startServer({ era: 'legacy', tools });
    await begin({ plain: httpDefinition(server.url) });
    await reinit('plain');
    server.change({ tools: [{ name: 'renamed' }] });
    expect(await reinit('plain')).toMatchObject({ tools: [{ name: 'renamed' }] });
    expect((await ada.call('plain', 'renamed', {})).status).toBe(200);
  });

  test('a failed inspection is tried again, and still unreachable is said', async () => {
    let down = true;
    const server = await rig.startServer({
      era: 'legacy',
      tools,
      respond: () => (down ? 'reset' : undefined),
    });
    await begin({ plain: httpDefinition(server.url) });
    const status = async () =>
      ((await (await ada.get('/api/mcp/connection/status/plain')).json()) as { code?: string }).code;
    while ((await status()) === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await reinit('plain')).toMatchObject({
      success: false,
      message: "MCP server 'plain' is still unreachable",
      failureReason: 'unreachable',
    });
    down = false;
    expect(await reinit('plain')).toMatchObject({ success: true, tools: [{ name: 'search' }] });
  });

  test('a server that is not there is 404', async () => {
    await begin({});
    const response = await ada.post('/api/mcp/nowhere/reinitialize', {});
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'MCP_SERVER_NOT_FOUND' });
  });
});
