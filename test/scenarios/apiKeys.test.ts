import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createAdjustableClock } from './adjustableClock.ts';
import { createUsers, type TestUser } from './users.ts';
import { httpDefinition } from './serverYaml.ts';
import { dumpStore } from './storeDump.ts';
import { toolCallPath, createTokenCaller } from './tokenCaller.ts';

type Scope = 'mcp' | 'servers' | 'admin' | 'obo';
interface MadeKey {
  id: string;
  key: string;
  hint: string;
}

describe('personal API keys', () => {
  const clock = createAdjustableClock();
  let upstream: ScriptedHttpServer;
  let gateway: InProcessGateway;
  let admin: TestUser;
  let ada: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    upstream = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    gateway = await startInProcess(
      { TRUST_PROXY: '1', RATE_LIMIT_WRITES: '100000' },
      JSON.stringify({
        mcpSettings: { allowedAddresses: [new URL(upstream.url).host] },
        mcpServers: { shared: httpDefinition(upstream.url) },
      }),
      clock,
    );
    [admin, ada, bob] = (await createUsers(gateway, [{ name: 'Root', role: 'ADMIN' }, 'Ada', 'Bob'])) as [
      TestUser,
      TestUser,
      TestUser,
    ];
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function make(owner: TestUser, ...scopes: Scope[]): Promise<MadeKey> {
    const response = await owner.post('/api/user/keys', { name: 'laptop', scopes });
    expect(response.status).toBe(201);
    return (await response.json()) as MadeKey;
  }
  const by = ({ key }: MadeKey) => createTokenCaller(gateway.url, key);
  /** Of a problem, or of the error that clients of MCP read. */
  const codeOf = async (response: Response) => {
    const body = (await response.json()) as { code?: string; error?: { data?: { code?: string } } };
    return { status: response.status, code: body.code ?? body.error?.data?.code };
  };
  const change = async (user: TestUser, to: object) =>
    expect((await admin.send('PATCH', `/api/admin/users/${user.id}`, to)).status).toBe(200);

  test('one is shown once, and calls in the name of its owner', async () => {
    const made = await make(ada, 'mcp');
    expect(made.key).toMatch(/^bhf_[\w-]{43}$/);
    const listed = await (await ada.get('/api/user/keys')).text();
    expect(listed).toContain(made.id);
    expect(listed).toContain(`"hint":"${made.key.slice(-4)}"`);
    expect(listed).not.toContain(made.key);
    expect(await (await bob.get('/api/user/keys')).json()).toEqual({ keys: [] });

    expect(await (await by(made).get('/api/user')).json()).toMatchObject({ id: ada.id, role: 'USER' });
    const { status, body } = await by(made).call('shared', 'echo', { n: 1 });
    expect([status, body.content?.[0]?.text]).toEqual([200, '{"n":1}']);
    const events = await (await admin.get('/api/admin/audit?limit=50')).text();
    expect(events).toContain(made.id);
    expect(events).not.toContain(made.key);
  });

  describe('scopes', () => {
    /** Every door, with what it says to this key. */
    async function knock(made: MadeKey, isClosed: (scope: string) => boolean): Promise<string[]> {
      const paths: string[] = [];
      for (const route of gateway.routes) {
        if (route.access === 'public' || !isClosed(route.scope)) continue;
        const { method, path } = route;
        const body = method === 'get' ? undefined : {};
        const filled = path.replace(/:\w+/g, 'shared');
        const answer = await codeOf(await by(made).send(method.toUpperCase(), filled, body));
        expect([method, path, answer]).toEqual([method, path, { status: 403, code: 'API_KEY_SCOPE' }]);
        paths.push(`${method} ${path}`);
      }
      return paths;
    }

    test('a key opens no door outside its scopes', async () => {
      // An administrator's, so that nothing but the scope is in the way.
      const calling = await make(admin, 'mcp', 'obo');
      expect((await by(calling).call('shared', 'echo')).status).toBe(200);
      const closed = await knock(calling, (scope) => scope !== 'mcp');
      expect(closed).toEqual(expect.arrayContaining(['post /api/mcp/servers', 'get /api/admin/users']));

      const writing = await make(admin, 'servers');
      await knock(writing, (scope) => scope !== 'servers');
      const config = { type: 'streamable-http', url: upstream.url, title: 'By key' };
      expect((await by(writing).send('POST', '/api/mcp/servers', { config })).status).toBe(201);
    });

    test('no key makes keys, sees sign-ins or approves', async () => {
      const closed = await knock(
        await make(admin, 'mcp', 'servers', 'admin', 'obo'),
        (scope) => scope === 'none',
      );
      expect(closed.sort()).toEqual([
        'delete /api/user/keys/:id',
        'delete /api/user/sessions/:session',
        'get /api/mcp/:serverName/oauth/asked',
        'get /api/user/keys',
        'get /api/user/sessions',
        'post /api/chat/:id/approvals/:callId',
        'post /api/chat/:id/connects/:callId',
        'post /api/mcp/:serverName/oauth/bind',
        'post /api/mcp/:serverName/oauth/initiate',
        'post /api/mcp/approvals/:id',
        'post /api/user/keys',
      ]);
    });

    test('a scope gives nothing that the owner does not have', async () => {
      const claimed = await make(bob, 'admin', 'servers');
      expect(await codeOf(await by(claimed).get('/api/admin/users'))).toEqual({
        status: 403,
        code: 'FORBIDDEN',
      });
      const config = { type: 'streamable-http', url: upstream.url, title: 'By key' };
      expect((await by(claimed).send('POST', '/api/mcp/servers', { config })).status).toBe(403);
      await change(bob, { role: 'ADMIN' });
      expect((await by(claimed).get('/api/admin/users')).status).toBe(200);
      // What the owner loses, the key loses at once.
      await change(bob, { role: 'USER' });
      expect((await by(claimed).get('/api/admin/users')).status).toBe(403);
    });
  });

  test('a deleted one ends at once, and only its owner deletes it', async () => {
    const [deletedKey, remainingKey] = [await make(ada, 'mcp'), await make(ada, 'mcp')];
    expect((await by(deletedKey).call('shared', 'echo')).status).toBe(200);
    for (const other of [bob, admin]) {
      const refused = await other.send('DELETE', `/api/user/keys/${deletedKey.id}`);
      expect(await codeOf(refused)).toEqual({ status: 404, code: 'API_KEY_NOT_FOUND' });
    }
    expect((await by(deletedKey).call('shared', 'echo')).status).toBe(200);
    expect((await ada.send('DELETE', `/api/user/keys/${deletedKey.id}`)).status).toBe(204);
    const refused = await by(deletedKey).call('shared', 'echo');
    expect([refused.status, refused.body.code]).toEqual([401, 'AUTH_TOKEN_INVALID']);
    expect((await by(remainingKey).call('shared', 'echo')).status).toBe(200);
  });

  test('those of a disabled owner end at once', async () => {
    const made = await make(bob, 'mcp');
    expect((await by(made).call('shared', 'echo')).status).toBe(200);
    await change(bob, { disabled: true });
    expect((await by(made).call('shared', 'echo')).status).toBe(401);
    await change(bob, { disabled: false });
  });

  test('one is in no request upstream, log, answer or store', async () => {
    const made = await make(ada, 'mcp');
    const before = upstream.requests.length;
    expect((await by(made).call('shared', 'echo')).status).toBe(200);
    let shown = '';
    for (const { method, path } of gateway.routes) {
      if (method !== 'get') continue;
      const filled = path.replace(/:\w+/g, 'shared');
      for (const who of [by(made), ada, admin]) {
        const response = await who.get(filled);
        shown += JSON.stringify([...response.headers]) + (await response.text());
      }
    }
    const received = upstream.requests.slice(before).map(({ headers, text }) => ({ headers, text }));
    expect(received.map(({ headers }) => headers.authorization).filter(Boolean)).toEqual([]);
    const places = {
      upstream: JSON.stringify(received),
      log: JSON.stringify(gateway.logged),
      answers: shown,
      store: await dumpStore(gateway),
    };
    expect(places.store).toContain(made.id);
    const secret = made.key.slice('bhf_'.length);
    const found = Object.entries(places).filter(([, text]) => text.includes(secret));
    expect(found.map(([place]) => place)).toEqual([]);
  });

  test('who shows a token needs no header against forgery', async () => {
    const made = await make(ada, 'mcp');
    const echo = (headers: Record<string, string>) =>
      fetch(new URL(toolCallPath('shared', 'echo'), gateway.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"arguments":{}}',
      });
    const authorization = `Bearer ${made.key}`;
    const forged = { origin: 'https://evil.example' };
    const { cookie } = ada;
    expect((await echo({ authorization })).status).toBe(200);
    expect((await echo({ cookie, 'x-behalf-csrf': '1' })).status).toBe(200);
    for (const headers of [{ cookie }, { cookie, ...forged }]) {
      expect(await codeOf(await echo(headers))).toEqual({ status: 403, code: 'CSRF_REFUSED' });
    }
    // A token that is not one does not get the cookie past the check, nor does what a browser adds by itself.
    expect((await echo({ cookie, ...forged, authorization: 'Bearer bhf_guessed' })).status).toBe(401);
    for (const added of ['', 'Basic YWRhOnNlY3JldA==', 'Negotiate YII=']) {
      const refused = await echo({ cookie, ...forged, authorization: added });
      expect(await codeOf(refused)).toEqual({ status: 403, code: 'CSRF_REFUSED' });
    }
  });

  test('guesses from one address are stopped, its good key is not', async () => {
    const made = await make(ada, 'mcp');
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const [guesser, other] = [from('203.0.113.9'), from('198.51.100.7')];
    expect((await by(made).get('/api/user', guesser)).status).toBe(200);
    const guess = async (i: number, headers: Record<string, string>) =>
      createTokenCaller(gateway.url, `${i % 2 === 0 ? 'bhf_' : ''}guess-${i}`).get('/api/user', headers);

    const statuses: number[] = [];
    for (let batch = 0; batch < 10; batch += 1) {
      const answers = Array.from({ length: 30 }, (_, i) => guess(batch * 30 + i, guesser));
      for (const { status } of await Promise.all(answers)) statuses.push(status);
    }
    expect(statuses).toEqual(Array.from({ length: 300 }, () => 401));
    const stopped = await guess(300, guesser);
    const retryAfter = Number(stopped.headers.get('retry-after'));
    expect([stopped.status, retryAfter > 0 && retryAfter <= 60]).toEqual([429, true]);
    expect(await codeOf(stopped)).toEqual({ status: 429, code: 'RATE_LIMITED' });

    expect((await by(made).get('/api/user', guesser)).status).toBe(200);
    expect((await guess(301, other)).status).toBe(401);
    clock.advance(60_000);
    expect((await guess(302, guesser)).status).toBe(401);
  });
});
