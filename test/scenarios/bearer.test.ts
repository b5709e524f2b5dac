import { eventually, scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAdjustableClock } from './adjustableClock.ts';
import { GATEWAY_AUDIENCE, createVisitor, startOpenIdGateway, type OpenIdGateway } from './openIdGateway.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';
import { readRecords } from './storeDump.ts';
import { toolCallPath, createTokenCaller } from './tokenCaller.ts';

/** Longer than the provider is left alone between two questions for its keys, and than an answer is kept. */
const LATER_MS = 6_000;

describe('tokens of the identity provider', () => {
  const user = (name: string, tenant: string | undefined, more: object = {}) => ({
    ...{ id: `u-${name.toLowerCase()}`, email: `${name.toLowerCase()}@example.com`, name, ...more },
    ...(tenant !== undefined && { tenant }),
  });
  const ada = user('Ada', 'acme', { roles: ['ADMIN'], groups: ['staff'] });
  const bob = user('Bob', 'acme');
  const una = user('Una', 'umbrella', { roles: ['ADMIN'] });
  const mallory = user('Mallory', 'elsewhere', { roles: ['ADMIN'] });
  const stray = user('Stray', undefined, { roles: ['ADMIN'] });
  const client = (id: string, appRoles: string[]) => ({
    ...{ id, secret: `secret-of-${id}`, tenant: 'acme', appRoles },
  });
  const clock = createAdjustableClock();
  let upstream: ScriptedHttpServer;
  let gateway: OpenIdGateway;

  beforeAll(async () => {
    upstream = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    gateway = await startOpenIdGateway({
      users: [bob, ada, una, mallory, stray],
      clients: [
        client('robot', ['USER']),
        client('chief', ['ADMIN']),
        client('idle', []),
        client('other', []),
      ],
      clock,
      variables: {
        OPENID_TENANT_CLAIM: 'tid',
        OPENID_ALLOWED_TENANTS: 'acme, umbrella, default',
        OPENID_ALLOWED_CLIENTS: 'behalf,robot,chief,idle',
        OPENID_ADMIN_ROLE: 'ADMIN',
        OPENID_ADMIN_ROLE_TOKEN_KIND: 'access',
      },
      yaml: renderYaml({
        shared: httpDefinition(upstream.url),
        signed: httpDefinition(`${upstream.url}?signed`, {
          headers: { authorization: 'Bearer of-the-operator' },
        }),
        personal: httpDefinition(`${upstream.url}?personal`, {
          headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' },
        }),
        keyed: httpDefinition(`${upstream.url}?keyed`, {
          headers: { 'x-key': '{{KEY}}' },
          customUserVars: { KEY: { title: 'Key', description: 'Your key' } },
        }),
        staffroom: httpDefinition(upstream.url, { access: { groups: ['staff'] } }),
      }),
    });
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const caller = (token: string) => createTokenCaller(gateway.url, token);
  const service = (id: string, more: object = {}) =>
    caller(gateway.idp.tokens.mintAppOnly({ client: id, ...more }));
  const as = (who: { id: string }) => caller(gateway.idp.tokens.mint({ user: who.id }));
  const account = async (subject: string) =>
    (await readRecords(gateway, 'users')).find((one) => one.subject === subject);

  /** All of an answer that could tell something: not the time, nor whether the body had arrived before it. */
  async function answerOf(response: Response) {
    const reported = [...response.headers].filter(
      ([name]) => !['date', 'connection', 'keep-alive'].includes(name),
    );
    return { status: response.status, headers: Object.fromEntries(reported), text: await response.text() };
  }

  test('a good one is its user, whom it makes at first sight', async () => {
    expect(await account(bob.id)).toBeUndefined();
    const response = await as(bob).get('/api/user');
    const { id } = (await account(bob.id)) ?? {};
    expect(await response.json()).toMatchObject({ id, email: '', name: '', role: 'USER' });
    expect(await as(bob).call('shared', 'echo', { n: 1 })).toMatchObject({
      status: 200,
      body: { content: [{ text: '{"n":1}' }] },
    });
    const { email, name } = bob;
    const named = gateway.idp.tokens.mint({ user: bob.id, claims: { email, name } });
    expect(await (await caller(named).get('/api/user')).json()).toMatchObject({
      id,
      email,
      name,
      role: 'USER',
    });
    expect(await (await as(ada).get('/api/user')).json()).toMatchObject({ role: 'ADMIN' });
  });

  test('every wrong one is refused alike', async () => {
    const { tokens } = gateway.idp;
    const unknown = await tokens.createUnknownKey();
    const { keys } = (await (await fetch(`${gateway.idp.issuer}/jwks`)).json()) as {
      keys: { kid: string }[];
    };
    const inAnHour = Math.floor(clock.now() / 1_000) + 3_600;
    const anyScope = { scope: 'access_as_user' };
    const wrong: [reason: string | null, token: string][] = [
      ['audience', tokens.mint({ claims: { aud: 'api://another' } })],
      ['issuer', tokens.mint({ claims: { iss: 'http://127.0.0.1:1' } })],
      ['algorithm', tokens.mintUnsigned()],
      ['algorithm', tokens.mintWithPublicKeyAsSecret({ text: 'pem' })],
      ['algorithm', tokens.mintWithPublicKeyAsSecret({ text: 'jwk' })],
      ['expired', tokens.mint({ lifetimeSeconds: -3_600 })],
      ['expired', tokens.mint({ claims: { exp: undefined } })],
      ['not_yet_valid', tokens.mint({ claims: { nbf: inAnHour } })],
      ['issued_in_future', tokens.mint({ claims: { iat: inAnHour } })],
      ['unknown_key', tokens.mint({ key: unknown })],
      ['signature', tokens.mint({ key: unknown, header: { kid: keys[0]?.kid } })],
      ['audience', tokens.mintIdToken()],
      ['id_token', tokens.mintIdToken({ claims: { aud: GATEWAY_AUDIENCE, ...anyScope } })],
      ['tenant', tokens.mint({ user: mallory.id })],
      ['tenant', tokens.mint({ user: stray.id })],
      ['tenant', tokens.mint({ user: ada.id, claims: { tid: 'default' } })],
      ['client', tokens.mint({ client: 'other' })],
      ['client', tokens.mintAppOnly({ client: 'other' })],
      ['key_bound', tokens.mint({ claims: { cnf: { jkt: 'thumbprint' } } })],
      ['malformed', 'no-token-at-all'],
      [null, 'bhf_a-key-that-nobody-made'],
    ];
    const doors: [string, string, unknown?][] = [
      ['GET', '/api/user'],
      ['GET', '/api/mcp/tools'],
      ['POST', toolCallPath('shared', 'echo'), { arguments: {} }],
    ];
    for (const [method, path, body] of doors) {
      const alike = await answerOf(await caller('guessed').send(method, path, body));
      expect(alike.status).toBe(401);
      expect(JSON.parse(alike.text)).toMatchObject({ code: 'AUTH_TOKEN_INVALID' });
      for (const [reason, token] of wrong) {
        gateway.logged.length = 0;
        expect([reason, await answerOf(await caller(token).send(method, path, body))]).toEqual([
          reason,
          alike,
        ]);
        // For the operator alone, and so that each was refused for what is wrong with it.
        const loggedEvents = gateway.logged.filter(({ event }) => event === 'bearer_refused');
        expect(loggedEvents.map(({ fields }) => fields)).toEqual(reason === null ? [] : [{ reason }]);
        expect(JSON.stringify(gateway.logged)).not.toContain(token);
      }
    }
    for (const { id } of [mallory, stray]) expect(await account(id)).toBeUndefined();
  });

  test('one beside a cookie is judged alone', async () => {
    const visitor = createVisitor(gateway);
    expect((await visitor.signIn(ada.id)).headers.get('location')).toBe('/');
    const cookie = `behalf_session=${visitor.cookies.get('behalf_session')}`;
    expect(await visitor.readUser()).toMatchObject({ role: 'ADMIN' });
    const expired = gateway.idp.tokens.mint({ user: ada.id, lifetimeSeconds: -3_600 });
    expect((await caller(expired).get('/api/user', { cookie })).status).toBe(401);
    for (const authorization of ['', 'Basic YWRhOnNlY3JldA==', 'Bearer', 'Bearer a b']) {
      const response = await fetch(`${gateway.url}/api/user`, { headers: { authorization, cookie } });
      expect([authorization, response.status]).toEqual([authorization, 401]);
    }
    expect((await as(bob).get('/api/admin/users', { cookie })).status).toBe(403);
    expect(await (await as(bob).get('/api/user', { cookie })).json()).toMatchObject({ role: 'USER' });
  });

  test('one does not do what takes a browser session', async () => {
    const doors = gateway.routes.filter((route) => 'scope' in route && route.scope === 'none');
    expect(doors.length).toBeGreaterThan(5);
    for (const { method, path } of doors) {
      const body = method === 'get' ? undefined : {};
      const response = await as(ada).send(method.toUpperCase(), path.replace(/:\w+/g, 'shared'), body);
      expect([path, response.status, await response.json()]).toEqual([
        path,
        403,
        expect.objectContaining({ code: 'API_KEY_SCOPE', detail: 'Sign in with a browser session.' }),
      ]);
    }
  });

  test('what concerns the whole gateway is no tenant’s', async () => {
    const visitor = createVisitor(gateway);
    await visitor.signIn(ada.id);
    expect((await visitor.get('/api/admin/users')).status).toBe(200);
    for (const path of ['/metrics', '/api/admin/audit/verify']) {
      expect([path, (await visitor.get(path)).status]).toEqual([path, 403]);
    }
    expect((await as(ada).send('POST', '/api/admin/reload')).status).toBe(403);
  });

  test('each tenant has its own people, whoever administers it', async () => {
    const listed = async (who: { id: string }) =>
      JSON.stringify(await (await as(who).get('/api/admin/users?limit=200')).json());
    await as(bob).get('/api/user');
    await as(una).get('/api/user');
    const [ofAcme, ofUmbrella] = [await listed(ada), await listed(una)];
    const [bobs, unas] = [(await account(bob.id))?.id ?? '', (await account(una.id))?.id ?? ''];
    expect([ofAcme.includes(bobs), ofAcme.includes(unas)]).toEqual([true, false]);
    expect([ofUmbrella.includes(bobs), ofUmbrella.includes(unas)]).toEqual([false, true]);
    expect((await as(una).send('PATCH', `/api/admin/users/${bobs}`, { role: 'ADMIN' })).status).toBe(404);
    // The browser's door asks the same of its tokens.
    for (const who of [mallory, stray]) {
      const visitor = createVisitor(gateway);
      const refused = await visitor.signIn(who.id);
      expect(refused.headers.get('location')).toMatch(/^\/\?error=openid_failed&/);
      expect(await visitor.readUser()).toBeNull();
    }
    const visitor = createVisitor(gateway);
    await visitor.signIn(una.id);
    expect(await visitor.readUser()).toMatchObject({ id: unas, role: 'ADMIN' });
  });

  describe('of a program', () => {
    test('lists and calls what is shared, as its role allows', async () => {
      const listed = await service('robot').get('/api/mcp/tools');
      const text = await listed.text();
      expect([listed.status, text.includes('shared'), text.includes('staffroom')]).toEqual([
        200,
        true,
        false,
      ]);
      expect((await service('robot').call('shared', 'echo', { n: 2 })).body.content?.[0]?.text).toBe(
        '{"n":2}',
      );
      const grouped = service('robot', { claims: { groups: ['staff'] } });
      expect((await grouped.call('staffroom', 'echo')).status).toBe(404);
      expect(await service('idle').call('shared', 'echo')).toMatchObject({
        status: 403,
        body: { code: 'MCP_FORBIDDEN' },
      });
      expect(await account('robot')).toBeUndefined();
    });

    test('is refused wherever a person acts', async () => {
      const doors = gateway.routes.filter(({ access }) => access === 'signed-in' || access === 'admin');
      expect(doors.length).toBeGreaterThan(20);
      for (const id of ['robot', 'chief']) {
        for (const { method, path } of doors) {
          const filled = path.replace(/:\w+/g, 'shared');
          const body = method === 'get' ? undefined : {};
          const response = await service(id).send(method.toUpperCase(), filled, body);
          const { code } = (await response.json()) as { code: string };
          expect([method, path, response.status, code]).toEqual([method, path, 403, 'FORBIDDEN']);
        }
      }
    });

    test('is never ADMIN by a claim', async () => {
      // Neither by the plain word nor by OPENID_ADMIN_ROLE; a role of people’s beside it is all that counts.
      expect((await service('chief').call('shared', 'echo')).body.code).toBe('MCP_FORBIDDEN');
      const both = service('chief', { claims: { roles: ['ADMIN', 'USER'] } });
      expect((await both.call('shared', 'echo')).status).toBe(200);
      expect((await both.get('/api/admin/users')).status).toBe(403);
    });

    test('fills in nothing of a user, and nothing is sent', async () => {
      const before = upstream.requests.length;
      expect(await service('robot').call('personal', 'echo')).toMatchObject({
        status: 400,
        body: { code: 'MCP_CONFIG_INVALID' },
      });
      expect(await service('robot').call('keyed', 'echo')).toMatchObject({
        body: { code: 'MCP_USER_VARS_MISSING' },
      });
      expect(upstream.requests).toHaveLength(before);
      expect((await as(bob).call('personal', 'echo')).status).toBe(200);
      const { id } = (await account(bob.id)) ?? {};
      expect([typeof id, upstream.requests.at(-1)?.headers['x-user']]).toEqual(['string', id]);
    });

    test('is written down as what it is', async () => {
      await service('robot').call('shared', 'echo');
      const actors = async () => {
        const { events } = (await (await as(ada).get('/api/admin/audit?kind=call&limit=100')).json()) as {
          events: { actor: { kind: string; id: string } }[];
        };
        return events.map(({ actor }) => actor).filter(({ kind }) => kind === 'service');
      };
      // Calls are written down within a second.
      await eventually('the call in the audit log', async () => (await actors()).length > 0);
      for (const { id } of await actors()) expect(id).toMatch(/^service:/);
    });
  });

  test('no server is shown a token of its caller', async () => {
    const shown = [
      gateway.idp.tokens.mint({ user: ada.id }),
      gateway.idp.tokens.mintAppOnly({ client: 'robot' }),
    ];
    const before = upstream.requests.length;
    for (const token of shown) {
      for (const server of ['shared', 'signed']) {
        expect((await caller(token).call(server, 'echo')).status).toBe(200);
      }
    }
    const received = upstream.requests.slice(before);
    expect(received.filter(({ message }) => message?.method === 'tools/call')).toHaveLength(4);
    for (const { path, headers, text } of received) {
      expect(headers.authorization).toBe(path.endsWith('?signed') ? 'Bearer of-the-operator' : undefined);
      expect(headers.cookie).toBeUndefined();
      for (const token of shown) expect(JSON.stringify(headers) + path + text).not.toContain(token);
    }
  });

  test('the address of the issuer is open to sign-ins alone', async () => {
    const url = `${gateway.idp.issuer}/mcp`;
    const config = { type: 'streamable-http', url, title: 'The provider itself' };
    const refused = await as(ada).send('POST', '/api/mcp/servers', { config });
    expect([refused.status, await refused.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'MCP_DOMAIN_NOT_ALLOWED' }),
    ]);
  });

  // The last one: it takes the keys of all tokens before.
  test('new keys work without a restart, and dropped ones end', async () => {
    const works = async (token: string) => (await caller(token).get('/api/user')).status === 200;
    const { tokens } = gateway.idp;
    const mint = () => tokens.mint({ user: ada.id });
    const first = mint();
    expect(await works(first)).toBe(true);

    clock.advance(LATER_MS);
    await gateway.idp.rotateKeys({ keepOld: true });
    const second = mint();
    expect([await works(second), await works(first)]).toEqual([true, true]);

    clock.advance(LATER_MS);
    // Known a moment ago: what ends it is the key, not the time.
    expect(await works(second)).toBe(true);
    await gateway.idp.rotateKeys({ keepOld: false });
    const third = mint();
    expect([await works(third), await works(second), await works(first)]).toEqual([true, false, false]);
    // People sign in by the new key as well.
    const visitor = createVisitor(gateway);
    await visitor.signIn(ada.id);
    expect(await visitor.readUser()).toMatchObject({ role: 'ADMIN' });
  });
});
