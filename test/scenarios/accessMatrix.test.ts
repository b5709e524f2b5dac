import { Problem } from '@behalf/contracts';
import { createDevIdp, type DevIdp } from '@behalf/devidp';
import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeMismatch } from '../routeFields.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { matrixActors, accessMatrix, type Actor, type MatrixRow } from './accessMatrix.ts';
import { createUsers, type TestUser } from './users.ts';
import { httpDefinition } from './serverYaml.ts';

describe('who may do what', () => {
  let upstream: ScriptedHttpServer;
  let idp: DevIdp;
  let gateway: InProcessGateway;
  let users: Record<Exclude<Actor, 'anonymous'> | 'bystander', TestUser>;
  /** The servers in question, by the name of who wrote them. */
  const nothing = { name: '', id: '', block: '', set: '' };
  const servers = { owner: nothing, former: nothing };

  beforeAll(async () => {
    upstream = await scriptedHttpServer({
      era: 'legacy',
      tools: [{ name: 'echo' }],
      capabilities: { tools: {}, resources: {}, prompts: {} },
      methods: {
        'resources/read': () => ({ contents: [] }),
        'resources/list': () => ({ resources: [] }),
        'resources/templates/list': () => ({ resourceTemplates: [] }),
        'prompts/list': () => ({ prompts: [] }),
        'prompts/get': () => ({ messages: [] }),
      },
    });
    idp = await createDevIdp({ isProduction: false, port: 0, users: [], clients: [], audience: 'behalf' });
    gateway = await startInProcess(
      {
        OPENID_ISSUER: idp.issuer,
        OPENID_CLIENT_ID: 'behalf',
        OPENID_CLIENT_SECRET: 'not used here',
        RATE_LIMIT_WRITES: '100000',
      },
      JSON.stringify({
        mcpSettings: { allowedAddresses: [new URL(upstream.url).host] },
        mcpServers: { shared: httpDefinition(upstream.url) },
        authorizationServer: { enabled: true, registration: { perMinute: 1_000 } },
      }),
    );
    const names = ['user', 'creator', 'editor', 'owner', 'former', 'bystander'] as const;
    const made = await createUsers(gateway, [...names, { name: 'admin', role: 'ADMIN' }]);
    users = Object.fromEntries([...names, 'admin'].map((name, i) => [name, made[i]])) as typeof users;
    const { admin, owner, former, editor } = users;
    await must(
      201,
      admin.post('/api/admin/roles', { name: 'CREATOR', permissions: { MCP_SERVERS: creating } }),
    );
    for (const user of [users.creator, editor, owner, former]) await setRole(user, 'CREATOR');
    await writeServer('owner');
    await writeServer('former');
    await setRole(former, 'USER');
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await idp.close();
    await upstream.close();
  });

  const creating = { USE: true, CREATE: true, SHARE: true };

  async function must(status: number, answer: Promise<Response>): Promise<Record<string, string>> {
    const response = await answer;
    const body = (await response.json()) as Record<string, string>;
    expect([response.status, body]).toEqual([status, body]);
    return body;
  }
  const setRole = (user: TestUser, role: string) =>
    must(200, users.admin.send('PATCH', `/api/admin/users/${user.id}`, { role }));

  /** A server of this author, which the editor may edit when it is the owner's. */
  async function writeServer(author: 'owner' | 'former'): Promise<void> {
    const config = { type: 'streamable-http', url: upstream.url, title: `Of ${author}` };
    const made = await must(201, users[author].post('/api/mcp/servers', { config }));
    servers[author] = { ...nothing, name: made['serverName'] ?? '', id: made['dbId'] ?? '' };
    await writeBlock(author);
    if (author === 'owner') await letEdit(`/api/permissions/mcpServer/${servers.owner.id}`);
  }

  /** A block of that server; the editor may edit the owner's. */
  async function writeBlock(author: 'owner' | 'former'): Promise<void> {
    const made = await must(
      201,
      users[author].post('/api/mcp/blocks', { server: servers[author].name, tool: 'echo' }),
    );
    servers[author].block = made['id'] ?? '';
    if (author === 'owner') await letEdit(`/api/permissions/block/${servers.owner.block}`);
    await writeSet(author);
  }

  /** A set of that block; the editor may edit the owner's. */
  async function writeSet(author: 'owner' | 'former'): Promise<void> {
    const steps = [{ key: 'a', block: servers[author].block }];
    const made = await must(201, users[author].post('/api/mcp/sets', { title: 'Set', steps }));
    servers[author].set = made['id'] ?? '';
    if (author === 'owner') await letEdit(`/api/permissions/set/${servers.owner.set}`);
  }

  async function letEdit(at: string): Promise<void> {
    const updated = [{ type: 'user', id: users.editor.id, accessRoleId: 'mcpServer_editor' }];
    await must(200, users.owner.send('PUT', at, { updated, removed: [], public: false }));
  }

  function fill(path: string, row: MatrixRow, actor: Actor): string {
    const { name, id, block, set } = servers[actor === 'former' ? 'former' : 'owner'];
    const of = /^\/api\/(?:permissions|mcp)\/(block|set)s?\//.exec(path)?.[1];
    const isServerId = path.startsWith('/api/permissions/');
    const defaults: Record<string, string> = {
      ...{ serverName: name, toolName: 'echo', promptName: 'greet', session: 'unknown' },
      id: of === 'block' ? block : of === 'set' ? set : isServerId ? id : 'unknown',
    };
    const filled = path.replace(/:(\w+)/g, (_all, key: string) => {
      const param = row.params?.[key] ?? defaults[key] ?? 'unknown';
      return encodeURIComponent(param === 'BYSTANDER' ? users.bystander.id : param);
    });
    return row.query === undefined ? filled : `${filled}?${row.query}`;
  }

  function fillBody(body: unknown, actor: Actor): string | null {
    if (body === undefined) return null;
    const { name, block } = servers[actor === 'former' ? 'former' : 'owner'];
    const text = JSON.stringify(body).replace('<upstream>', upstream.url);
    return text.replace('<server>', name).replace('<block>', block);
  }

  async function ask(route: string, row: MatrixRow, actor: Actor): Promise<number> {
    const [method = '', path = ''] = route.split(' ');
    // A sign-out would end the actor.
    const isKnown = actor !== 'anonymous' && path !== '/api/auth/logout';
    const response = await fetch(gateway.url + fill(path, row, actor), {
      method,
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'x-behalf-csrf': '1',
        ...(isKnown && { cookie: users[actor as 'user'].cookie }),
      },
      body: fillBody(row.body, actor),
    });
    const text = await response.text();
    if (response.status < 400) {
      expect([route, describeMismatch(route, response, text)]).toEqual([route, undefined]);
    }
    if (response.status >= 400 && path.startsWith('/api/')) {
      expect([route, actor, response.headers.get('content-type')]).toEqual([
        ...[route, actor],
        'application/problem+json; charset=utf-8',
      ]);
      const { status, message, error } = Problem.parse(JSON.parse(text));
      expect([status, typeof message, typeof error]).toEqual([response.status, 'string', 'string']);
    }
    return response.status;
  }

  /** What this row took away is there again for the next. */
  async function restore(route: string, status: number, actor: Actor): Promise<void> {
    if (route === 'DELETE /api/mcp/servers/:serverName' && status === 200) await writeServer('owner');
    if (route === 'DELETE /api/mcp/blocks/:id' && status === 204) {
      await writeBlock(actor === 'former' ? 'former' : 'owner');
    }
    if (route === 'DELETE /api/mcp/sets/:id' && status === 204) {
      await writeSet(actor === 'former' ? 'former' : 'owner');
    }
    if (route === 'PATCH /api/admin/users/:id' && status === 200) {
      await must(
        200,
        users.admin.send('PATCH', `/api/admin/users/${users.bystander.id}`, { disabled: false }),
      );
    }
  }

  test('the table has every route of the router, and no other', () => {
    const routes = gateway.routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(Object.keys(accessMatrix).sort()).toEqual([...new Set(routes)].sort());
    expect(routes).toHaveLength(new Set(routes).size);
  });

  test('every route answers every kind of caller as the table says', async () => {
    const received: string[] = [];
    for (const [route, row] of Object.entries(accessMatrix)) {
      for (const [i, actor] of matrixActors.entries()) {
        const status = await ask(route, row, actor);
        if (status !== row.expectedStatuses[i])
          received.push(`${route} as ${actor}: ${status}, not ${row.expectedStatuses[i]}`);
        await restore(route, status, actor);
      }
    }
    expect(received).toEqual([]);
  }, 120_000);
});
