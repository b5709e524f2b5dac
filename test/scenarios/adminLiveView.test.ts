import {
  EffectiveConfigView,
  LiveConnectionsView,
  mcpPermissions,
  OwnUserView,
  secretMask,
  StatsView,
  type ConnectionStatusView,
} from '@behalf/contracts';
import { eventually, freePort, scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAdjustableClock } from './adjustableClock.ts';
import { startOpenIdGateway, type OpenIdGateway } from './openIdGateway.ts';
import { createUsers, type TestUser } from './users.ts';
import { httpDefinition } from './serverYaml.ts';
import { createTokenCaller, type TokenCaller } from './tokenCaller.ts';

const MINUTE_MS = 60_000;
/** Under each of these something is written that nobody may read again. */
const PLANTED = /planted/;

interface Reader {
  get(path: string): Promise<Response>;
}

describe('what administrators look at', () => {
  const user = (name: string, tenant: string, more: object = {}) => ({
    ...{ id: `u-${name}`, email: `${name}@example.com`, name, tenant, ...more },
  });
  const ada = user('ada', 'acme', { roles: ['ADMIN'] });
  const bob = user('bob', 'acme');
  const una = user('una', 'umbrella', { roles: ['ADMIN'] });
  const clock = createAdjustableClock();
  /** Calls of the slow tool that wait for the test. */
  const waiting: (() => void)[] = [];
  let upstream: ScriptedHttpServer;
  let gateway: OpenIdGateway;
  let operator: TestUser;
  let member: TestUser;

  beforeAll(async () => {
    const slow = () => new Promise<object>((resolve) => waiting.push(() => resolve({ content: [] })));
    upstream = await scriptedHttpServer({
      era: 'legacy',
      tools: [
        { name: 'echo' },
        { name: 'slow', handler: slow as never },
        { name: 'fail', handler: () => ({ content: [], isError: true }) },
      ],
    });
    const unreachableUrl = `http://127.0.0.1:${await freePort()}/mcp`;
    const addresses = [upstream.url, unreachableUrl].map((url) => new URL(url).host);
    gateway = await startOpenIdGateway({
      users: [ada, bob, una],
      clock,
      variables: {
        OPENID_TENANT_CLAIM: 'tid',
        OPENID_ADMIN_ROLE: 'ADMIN',
        OPENID_ADMIN_ROLE_TOKEN_KIND: 'access',
        METRICS_TOKEN: 'planted-metrics-token',
        TEAM_KEY: 'planted-team-key',
        PROXY: '',
        HTTPS_PROXY: 'http://planted:planted@127.0.0.1:9',
        NO_PROXY: '127.0.0.1',
      },
      yaml: JSON.stringify({
        unknownKeys: 'warn',
        mcpSettings: { allowedAddresses: addresses },
        mcpServers: {
          shared: httpDefinition(upstream.url, {
            title: 'Shared',
            headers: { 'x-team': 'planted', 'x-key': '${TEAM_KEY}' },
            mistyped: 'planted',
          }),
          personal: httpDefinition(`${upstream.url}?key=planted`, {
            headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' },
          }),
          down: httpDefinition(unreachableUrl),
        },
        endpoints: {
          custom: [{ name: 'Models', baseURL: 'https://models.example/v1', apiKey: 'planted' }],
        },
        memory: { apiKey: 'planted' },
      }),
    });
    [operator, member] = (await createUsers(gateway, [{ name: 'Root', role: 'ADMIN' }, 'Mel'])) as [
      TestUser,
      TestUser,
    ];
  }, 60_000);
  afterAll(async () => {
    for (const end of waiting.splice(0)) end();
    await gateway.close();
    await upstream.close();
  });

  const as = (who: { id: string }): TokenCaller =>
    createTokenCaller(gateway.url, gateway.idp.tokens.mint({ user: who.id }));
  async function read<T>(who: Reader, path: string, view: { parse(value: unknown): T }): Promise<T> {
    const response = await who.get(path);
    expect([path, response.status]).toEqual([path, 200]);
    return view.parse(await response.json());
  }
  const connections = (who: Reader) => read(who, '/api/admin/connections', LiveConnectionsView);
  const stats = (who: Reader, query = '') => read(who, `/api/admin/stats${query}`, StatsView);
  const server = async (who: Reader, name: string) =>
    (await connections(who)).servers.find((one) => one.server === name);
  const counted = async (who: Reader, name: string, query = '') => {
    const found = (await stats(who, query)).servers.find((one) => one.server === name);
    const sum = (list: readonly number[] = []) => list.reduce((total, one) => total + one, 0);
    return [sum(found?.calls), sum(found?.errors)];
  };

  test('is for administrators, and the configuration for operators', async () => {
    const paths = ['/api/admin/connections', '/api/admin/stats', '/api/admin/config'];
    for (const [who, expected] of [
      [as(bob), [403, 403, 403]],
      [member, [403, 403, 403]],
      [as(ada), [200, 200, 403]],
      [as(una), [200, 200, 403]],
      [operator, [200, 200, 200]],
    ] as const) {
      const answers = await Promise.all(paths.map((path) => who.get(path)));
      expect(answers.map(({ status }) => status)).toEqual(expected);
      for (const answer of answers.filter(({ ok }) => !ok)) {
        expect(await answer.json()).toMatchObject({ code: 'FORBIDDEN' });
      }
    }
    expect((await operator.get('/api/admin/stats?range=week')).status).toBe(400);
    expect((await operator.get('/api/admin/stats?since=1')).status).toBe(400);
  });

  test('connections of another tenant’s users are not counted', async () => {
    for (const who of [ada, bob, una]) {
      expect((await as(who).call('personal', 'echo')).status).toBe(200);
      expect((await as(who).call('shared', 'echo')).status).toBe(200);
    }
    const response = await connections(as(ada));
    expect(response).toMatchObject({ totals: { shared: 1, user: 2 } });
    expect(response.totals).not.toHaveProperty('stateless');
    expect(response.servers.map((one) => one.server)).toEqual(['down', 'personal', 'shared']);
    expect(await server(as(ada), 'personal')).toEqual({
      ...{ server: 'personal', scope: 'user', users: 2, inFlight: 0, isBreakerOpen: false },
    });
    expect(await server(as(una), 'personal')).toMatchObject({ users: 1 });
    expect(await server(operator, 'personal')).toMatchObject({ users: 0 });
    expect(await server(as(una), 'shared')).toEqual({
      ...{
        server: 'shared',
        title: 'Shared',
        scope: 'app',
        state: 'connected',
        users: 0,
        isBreakerOpen: false,
      },
    });
    expect((await connections(operator)).totals).toMatchObject({ user: 0, stateless: 0 });
  });

  test('nor are their requests that are under way', async () => {
    const calls = [as(bob).call('personal', 'slow'), as(bob).call('shared', 'slow')];
    await eventually('both at the server', () => waiting.length === 2);
    expect(await server(as(ada), 'personal')).toMatchObject({ inFlight: 1 });
    expect(await server(as(una), 'personal')).toMatchObject({ inFlight: 0 });
    // Whose they are on a connection that everybody shares, nobody knows.
    expect(await server(as(ada), 'shared')).not.toHaveProperty('inFlight');
    expect(await server(operator, 'shared')).toMatchObject({ inFlight: 1 });
    for (const end of waiting.splice(0)) end();
    await Promise.all(calls);
    expect(await server(as(ada), 'personal')).toMatchObject({ inFlight: 0 });
    expect(await server(operator, 'shared')).toMatchObject({ inFlight: 0 });
  });

  test('servers that users stored are told in their own tenant, while used', async () => {
    const config = { type: 'streamable-http', url: upstream.url, title: 'Of Ada' };
    const made = await as(ada).send('POST', '/api/mcp/servers', { config });
    expect(made.status).toBe(201);
    const { serverName } = (await made.json()) as { serverName: string };
    expect(await server(as(ada), serverName)).toBeUndefined();
    expect((await as(ada).call(serverName, 'echo')).status).toBe(200);
    expect(await server(as(ada), serverName)).toMatchObject({ users: 1, inFlight: 0 });
    for (const other of [as(una), operator]) expect(await server(other, serverName)).toBeUndefined();
  });

  test('who cannot be reached is told with the time of its first failure', async () => {
    const status = async (who: Reader) =>
      (await (await who.get('/api/mcp/connection/status/down')).json()) as ConnectionStatusView;
    // It is tried again in the background, and is connecting then.
    const failing = async () => {
      let connectionStatus: ConnectionStatusView | undefined;
      await eventually('the end of an attempt', async () => {
        connectionStatus = await status(member);
        return connectionStatus.connectionStatus === 'error';
      });
      return connectionStatus;
    };
    const since = (await failing())?.since;
    expect(since).toBeLessThanOrEqual(clock.now());
    clock.advance(5 * MINUTE_MS);
    expect((await member.call('down', 'echo')).status).toBe(502);
    expect((await failing())?.since).toBe(since);
    await eventually('the same in the list', async () => {
      const answer = await member.get('/api/mcp/connection/status');
      const { connectionStatus } = (await answer.json()) as {
        connectionStatus: Record<string, { since?: number }>;
      };
      expect(connectionStatus['shared']).not.toHaveProperty('since');
      return connectionStatus['down']?.since === since;
    });
    for (const who of [as(ada), operator]) {
      await eventually('the same for administrators', async () => {
        const { state, code, since: firstFailureAt } = (await server(who, 'down')) ?? {};
        return state === 'error' && code === 'MCP_UNREACHABLE' && firstFailureAt === since;
      });
    }
  });

  test('calls of another tenant are not counted', async () => {
    clock.advance(2 * 60 * MINUTE_MS);
    for (const tool of ['echo', 'echo', 'fail']) await as(bob).call('shared', tool);
    await as(bob).call('nowhere', 'echo');
    await as(una).call('shared', 'echo');
    expect(await counted(as(ada), 'shared')).toEqual([3, 1]);
    expect(await counted(as(ada), '(unknown)')).toEqual([1, 1]);
    expect(await counted(as(una), 'shared')).toEqual([1, 0]);
    expect(await counted(operator, 'shared')).toEqual([0, 0]);
    const hour = await stats(as(ada));
    expect(hour).toMatchObject({ range: 'hour', bucketMs: MINUTE_MS });
    expect(hour.from + 59 * MINUTE_MS).toBe(clock.now() - (clock.now() % MINUTE_MS));
    expect((await stats(as(ada), '?range=day')).servers[0]?.calls).toHaveLength(96);
    clock.advance(60 * MINUTE_MS);
    expect(await counted(as(ada), 'shared')).toEqual([0, 0]);
    expect((await counted(as(ada), 'shared', '?range=day'))[0]).toBeGreaterThanOrEqual(3);
  });

  test('what is counted for all tenants together is for operators', async () => {
    for (const who of [as(ada), as(una)]) {
      const response = await stats(who);
      expect(['exchanges', 'refreshes'].filter((name) => name in response)).toEqual([]);
    }
    expect(await stats(operator)).toMatchObject({
      exchanges: { requests: 0, outcomes: {} },
      refreshes: { outcomes: {} },
    });
  });

  test('an operator reads what runs, and no secret of it', async () => {
    const response = await operator.get('/api/admin/config');
    const text = await response.text();
    expect(text).not.toMatch(PLANTED);
    const view = EffectiveConfigView.parse(JSON.parse(text));
    expect(view.file).toMatch(/librechat\.yaml$/);
    expect(view.config).toMatchObject({
      mcpServers: {
        shared: {
          url: upstream.url,
          headers: { 'x-team': secretMask, 'x-key': '${TEAM_KEY}' },
          mistyped: secretMask,
        },
        personal: {
          url: `${upstream.url}?key=${secretMask}`,
          headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' },
        },
      },
      memory: secretMask,
    });
    expect(view.warnings).toMatchObject([{ path: 'mcpServers.shared.mistyped', line: expect.any(Number) }]);
    const variable = (name: string) => view.environment.find((one) => one.name === name);
    expect(variable('METRICS_TOKEN')).toEqual({
      ...{ name: 'METRICS_TOKEN', value: null, isSet: true, isSecret: true },
    });
    expect(variable('HTTPS_PROXY')).toMatchObject({ value: `http://${secretMask}@127.0.0.1:9` });
    expect(variable('PORT')).toEqual({ name: 'PORT', value: '0', isSet: true, isSecret: false });
    expect(variable('LOG_LEVEL')).toEqual({
      name: 'LOG_LEVEL',
      value: 'info',
      isSet: false,
      isSecret: false,
    });
  });

  test('everybody reads what they may do themselves', async () => {
    const own = (who: Reader) => read(who, '/api/user', OwnUserView);
    const all = Object.fromEntries(mcpPermissions.map((permission) => [permission, true]));
    expect(await own(operator)).toMatchObject({
      ...{ role: 'ADMIN', isAdmin: true, isOperator: true, offersOpenId: true },
      permissions: { MCP_SERVERS: all },
    });
    expect(await own(as(ada))).toMatchObject({ isAdmin: true, isOperator: false });
    const mel = await own(member);
    expect(mel).toMatchObject({ role: 'USER', isAdmin: false, isOperator: false });
    expect(mel.permissions.MCP_SERVERS).toMatchObject({ USE: true, CONFIGURE_OBO: false });
    // Of the role as it is now.
    const change = { permissions: { MCP_SERVERS: { USE: false } } };
    expect((await operator.send('PATCH', '/api/admin/roles/USER', change)).status).toBe(200);
    await eventually('the change', async () => !(await own(member)).permissions.MCP_SERVERS.USE);
    expect((await member.call('shared', 'echo')).status).toBe(403);
  });
});
