import { ServerCheckView } from '@behalf/contracts';
import { eventually, freePort } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';

describe('a check of a server, over REST', () => {
  const rig = createGatewayRig();

  async function begin() {
    const upstream = await rig.startServer({ era: 'legacy', tools: [{ name: 'a' }, { name: 'b' }] });
    const away = `http://127.0.0.1:${await freePort()}/mcp`;
    const addresses = [upstream.url, away].map((url) => new URL(url).host);
    const users = await rig.start(JSON.stringify({ mcpSettings: { allowedAddresses: addresses } }), [
      { name: 'Mia', role: 'MAKER' },
      { name: 'Eve', role: 'MAKER' },
      { name: 'Uma', role: 'USER' },
      { name: 'Root', role: 'ADMIN' },
    ]);
    const [mia, eve, uma, root] = users as [TestUser, TestUser, TestUser, TestUser];
    const permissions = { MCP_SERVERS: { USE: true, CREATE: true } };
    expect((await root.post('/api/admin/roles', { name: 'MAKER', permissions })).status).toBe(201);
    const server = { type: 'streamable-http', url: upstream.url, title: 'Mine' };
    return { upstream, away, mia, eve, uma, root, server };
  }
  const check = (user: TestUser, config: object, serverName?: string) =>
    user.post('/api/mcp/servers/check', { config, ...(serverName !== undefined && { serverName }) });
  const readCheck = async (answer: Promise<Response>) => {
    const response = await answer;
    const { instance: _instance, ...body } = (await response.json()) as Record<string, unknown>;
    return [response.status, body];
  };
  /** What the audit tells, once it tells this many. */
  const findAuditEvents = (root: TestUser, count: number) =>
    eventually('the audit to tell it', async () => {
      const { events } = (await (await root.get('/api/admin/audit?kind=config')).json()) as {
        events: { action: string; outcome: string; code?: string }[];
      };
      const lines = events.map(({ action, outcome, code = '' }) => `${action} ${outcome} ${code}`.trim());
      return lines.length >= count && lines;
    });

  test('is a good word, and leaves no server behind', async () => {
    const { upstream, mia, root, server } = await begin();
    const answer = await check(mia, server);
    expect([answer.status, ServerCheckView.parse(await answer.json())]).toEqual([
      200,
      { inspected: true, tools: 2 },
    ]);
    expect(upstream.received('tools/list')).toHaveLength(1);
    expect(await (await mia.get('/api/mcp/servers')).json()).toEqual({});
    const waits = await check(mia, { ...server, apiKey: { source: 'user', authorization_type: 'bearer' } });
    expect([waits.status, await waits.json()]).toEqual([200, { inspected: false }]);
    expect(upstream.received('tools/list')).toHaveLength(1);
    await check(mia, {});
    expect((await findAuditEvents(root, 3)).sort()).toEqual([
      'server.check ok',
      'server.check ok',
      'server.check refused MCP_CONFIG_INVALID',
    ]);
  });

  test('hears what saving hears', async () => {
    const { away, mia, uma, server } = await begin();
    for (const [who, config] of [
      [mia, { ...server, url: away }],
      [mia, { ...server, url: 'http://127.0.0.1:1/mcp' }],
      [mia, { ...server, timeout: 5 }],
      [mia, { ...server, obo: { scopes: 'api://x/.default' } }],
      [uma, server],
    ] as const) {
      const checked = await readCheck(check(who, config));
      expect(checked[0]).toBeGreaterThanOrEqual(400);
      expect(checked).toEqual(await readCheck(who.post('/api/mcp/servers', { config })));
    }
    for (const body of [
      {},
      { config: [] },
      { config: server, more: 1 },
      { config: server, serverName: '' },
    ]) {
      expect(await readCheck(mia.post('/api/mcp/servers/check', body))).toMatchObject([
        400,
        { code: 'REQUEST_INVALID' },
      ]);
    }
  });

  test('of a change knows the secrets that stay, and sends them nowhere else', async () => {
    const { upstream, away, mia, eve, root, server } = await begin();
    const config = { ...server, headers: { 'X-Key': 'planted-key' } };
    expect((await mia.post('/api/mcp/servers', { config })).status).toBe(201);
    const before = await (await mia.get('/api/mcp/servers')).json();
    const masked = { ...server, title: 'Other', headers: { 'X-Key': '********' } };
    expect(await readCheck(check(mia, masked, 'mine'))).toEqual([200, { inspected: true, tools: 2 }]);
    const last = upstream.received('tools/list').at(-1);
    expect(last?.headers['x-key']).toBe('planted-key');
    const moved = { ...masked, url: away };
    const movedCheck = await readCheck(check(mia, moved, 'mine'));
    expect(movedCheck).toMatchObject([400, { code: 'MCP_SECRET_REENTRY_REQUIRED', changedFields: ['url'] }]);
    expect(movedCheck).toEqual(
      await readCheck(mia.send('PATCH', '/api/mcp/servers/mine', { config: moved })),
    );
    // To others it does not exist.
    expect(await readCheck(check(eve, masked, 'mine'))).toEqual(
      await readCheck(check(eve, masked, 'unheard')),
    );
    const merged = await mia.post(
      '/api/mcp/servers/check',
      { config: { title: 'Other' }, serverName: 'mine' },
      { headers: { 'content-type': 'application/merge-patch+json' } },
    );
    expect(merged.status).toBe(200);
    expect(await (await mia.get('/api/mcp/servers')).json()).toEqual(before);
    expect((await findAuditEvents(root, 7)).filter((line) => line.startsWith('server.check'))).toEqual([
      'server.check ok',
      'server.check refused MCP_SERVER_NOT_FOUND',
      'server.check refused MCP_SERVER_NOT_FOUND',
      'server.check refused MCP_SECRET_REENTRY_REQUIRED',
      'server.check ok',
    ]);
  });

  test('of OBO by who may not configure it is in the audit', async () => {
    const { mia, root, server } = await begin();
    const response = await readCheck(check(mia, { ...server, obo: { scopes: 'api://x/.default' } }));
    expect(response).toMatchObject([403, { code: 'MCP_OBO_FORBIDDEN' }]);
    expect(await findAuditEvents(root, 1)).toEqual(['server.check refused MCP_OBO_FORBIDDEN']);
    const csrf = await fetch(`${rig.gateway.url}/api/mcp/servers/check`, {
      method: 'POST',
      headers: { cookie: mia.cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ config: server }),
    });
    expect([csrf.status, await csrf.json()]).toMatchObject([403, { code: 'CSRF_REFUSED' }]);
  });
});
