import { ServerToolsView, ToolsView } from '@behalf/contracts';
import { freePort } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const tools = [
  {
    ...{ name: 'read', title: 'Read a file', description: 'Reads <b>one</b>', inputSchema: schema },
    ...{ annotations: { readOnlyHint: true }, outputSchema: { type: 'object' } },
  },
  { name: 'write', inputSchema: schema },
  { name: 'erase', inputSchema: schema },
];

describe('the tools of one server, over REST', () => {
  const rig = createGatewayRig();

  async function view(user: TestUser, server: string): Promise<ServerToolsView> {
    const answer = await user.get(`/api/mcp/servers/${encodeURIComponent(server)}/tools`);
    expect([server, answer.status]).toEqual([server, 200]);
    return ServerToolsView.parse(await answer.json());
  }

  test('come with all that a form for them needs', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools });
    const [ada] = (await rig.start(
      renderYaml({
        files: httpDefinition(upstream.url, { title: 'Files', headers: { 'X-Key': 'planted-key' } }),
      }),
    )) as [TestUser];
    const seen = await view(ada, 'files');
    expect(seen).toEqual({
      ...{ serverName: 'files', title: 'Files', state: 'connected' },
      authority: { kind: 'static', shared: true },
      tools: [
        {
          ...{ name: 'read', publicName: 'read_mcp_files', title: 'Read a file', inputSchema: schema },
          ...{ description: 'Reads <b>one</b>', outputSchema: { type: 'object' }, asksFirst: false },
          annotations: { readOnlyHint: true },
        },
        ...['write', 'erase'].map((name) => ({
          ...{
            name,
            publicName: `${name}_mcp_files`,
            description: '',
            inputSchema: schema,
            asksFirst: false,
          },
        })),
      ],
    });
    expect(JSON.stringify(seen)).not.toContain('planted-key');
  });

  test('say what is wrong, as the list of all servers does', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools });
    const unreachableUrl = `http://127.0.0.1:${await freePort()}/mcp`;
    const variables = { FILES_TOKEN: { title: 'Token', description: 'Of yours' } };
    const [ada] = (await rig.start(
      renderYaml({
        files: httpDefinition(upstream.url),
        away: httpDefinition(unreachableUrl),
        keyed: httpDefinition(upstream.url, {
          ...{ headers: { 'X-Token': '{{FILES_TOKEN}}' }, customUserVars: variables },
        }),
        signed: httpDefinition(upstream.url, { requiresOAuth: true }),
      }),
    )) as [TestUser];
    const all = ToolsView.parse(await (await ada.get('/api/mcp/tools')).json()).servers;
    const states: Record<string, unknown> = {};
    for (const [name, { state, code, tools: listed }] of Object.entries(all)) {
      const one = await view(ada, name);
      states[name] = [one.state, one.code, one.authority.kind];
      expect([name, one.state, one.code]).toEqual([name, state, code]);
      expect(one.tools.map((tool) => tool.publicName)).toEqual(listed.map((tool) => tool.pluginKey));
    }
    expect(states).toEqual({
      files: ['connected', undefined, 'none'],
      away: ['unreachable', 'MCP_UNREACHABLE', 'none'],
      keyed: ['needs_configuration', 'MCP_USER_VARS_MISSING', 'user_values'],
      signed: ['needs_authorization', 'MCP_AUTHORIZATION_REQUIRED', 'user_token'],
    });
    const loggedEvents = rig.gateway.logged.filter(({ event }) => event === 'A server cannot be reached');
    expect(loggedEvents.length).toBeGreaterThan(1);
  });

  test('follow the policy, and are nobody’s who may not see the server', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools });
    const toolApproval = { deny: ['mcp:files:erase'], ask: ['mcp:files:write'] };
    const [ada, root] = (await rig.start(
      renderYaml(
        {
          files: httpDefinition(upstream.url),
          hidden: httpDefinition(upstream.url, { access: { roles: ['ADMIN'] } }),
        },
        { endpoints: { agents: { toolApproval } } },
      ),
      ['Ada', { name: 'Root', role: 'ADMIN' }],
    )) as [TestUser, TestUser];
    const { tools: seen } = await view(ada, 'files');
    expect(seen.map(({ name, asksFirst }) => [name, asksFirst])).toEqual([
      ['read', false],
      ['write', true],
    ]);
    expect((await view(root, 'hidden')).tools).toHaveLength(3);
    const refusals = await Promise.all(
      ['hidden', 'unheard'].map(async (name) => {
        const answer = await ada.get(`/api/mcp/servers/${name}/tools`);
        return [answer.status, await answer.json()];
      }),
    );
    expect(refusals[0]).toEqual(refusals[1]);
    expect(refusals[0]).toMatchObject([404, { code: 'MCP_SERVER_NOT_FOUND' }]);
    expect((await fetch(`${rig.gateway.url}/api/mcp/servers/files/tools`)).status).toBe(401);
  });
});
