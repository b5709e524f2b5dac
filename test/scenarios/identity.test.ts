import { toCredentialSealContext } from '@behalf/gateway/ports';
import { createKeyring, systemClock, systemRandom as random } from '@behalf/kernel';
import { loadKeys } from '@behalf/stores/open';
import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CLIENT_SECRET, createVisitor, startOpenIdGateway, type OpenIdGateway } from './openIdGateway.ts';
import { createUsers, type TestUser } from './users.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';
import { readRecords, dumpStore } from './storeDump.ts';
import { toolCallPath, createTokenCaller } from './tokenCaller.ts';

const createDevUser = (name: string) => ({
  id: `u-${name.toLowerCase()}`,
  email: `${name.toLowerCase()}@example.com`,
  name,
  roles: [] as string[],
  groups: [] as string[],
});

describe('people who sign in at the identity provider', () => {
  const ada = { ...createDevUser('Ada'), roles: ['ADMIN'], groups: ['staff'] };
  const [bob, carol, dave, eve] = [
    createDevUser('Bob'),
    createDevUser('Carol'),
    createDevUser('Dave'),
    createDevUser('Eve'),
  ];
  let upstream: ScriptedHttpServer;
  let gateway: OpenIdGateway;
  let admin: TestUser;

  beforeAll(async () => {
    upstream = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    gateway = await startOpenIdGateway({
      users: [ada, bob, carol, dave, eve],
      yaml: renderYaml({
        shared: httpDefinition(upstream.url),
        staffroom: httpDefinition(upstream.url, { access: { groups: ['staff'] } }),
      }),
    });
    [admin] = (await createUsers(gateway, [{ name: 'Root', role: 'ADMIN' }])) as [TestUser];
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const accountsOf = async (subject: string) =>
    (await readRecords(gateway, 'users')).filter((user) => user.subject === subject);
  async function change(id: string, to: object): Promise<void> {
    const response = await admin.send('PATCH', `/api/admin/users/${id}`, to);
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ id })]);
  }
  /** Signs in anew and tells who that is. */
  async function arrive(user: { id: string }) {
    const visitor = createVisitor(gateway);
    expect((await visitor.signIn(user.id)).headers.get('location')).toBe('/');
    const me = await visitor.readUser();
    if (!me) throw new Error(`${user.id} is not signed in`);
    return { ...visitor, id: me.id, role: me.role };
  }
  const expectNoLogin = (response: Response, error = 'openid_failed') => {
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toMatch(new RegExp(`^/\\?error=${error}&incident=[\\w-]{22}$`));
    expect(response.headers.getSetCookie().join()).not.toContain('behalf_session');
  };

  describe('a whole sign-in', () => {
    test('makes the account, with the role of the claim', async () => {
      const visitor = createVisitor(gateway);
      expect(await visitor.readUser()).toBeNull();
      expect(await accountsOf(ada.id)).toEqual([]);

      const response = await visitor.startLogin();
      expect(response.origin).toBe(gateway.idp.issuer);
      const { code_challenge_method: method, state, nonce } = Object.fromEntries(response.searchParams);
      expect(method).toBe('S256');
      expect(new Set([state, nonce, undefined]).size).toBe(3);
      expect(response.href).not.toContain(CLIENT_SECRET);

      const answer = await visitor.signIn(ada.id);
      expect([answer.status, answer.headers.get('location')]).toEqual([302, '/']);
      const cookie = answer.headers.getSetCookie().find((line) => line.startsWith('behalf_session='));
      expect(cookie).toMatch(/; HttpOnly; SameSite=Lax;/);
      expect([...visitor.cookies.keys()]).toEqual(['behalf_session']);
      const [account] = await accountsOf(ada.id);
      const view = { id: account?.id, email: ada.email, name: 'Ada', role: 'ADMIN' };
      expect(await visitor.readUser()).toMatchObject(view);
      expect(account).toMatchObject({
        issuer: gateway.idp.issuer,
        roleSource: 'claim',
        passwordSealed: null,
      });
      expect(await (await visitor.get('/')).text()).toContain('<div id="root">');
    });

    test('finds the same account again, in a session of its own', async () => {
      const [first, second] = [await arrive(bob), await arrive(bob)];
      expect(second.id).toBe(first.id);
      expect(first.role).toBe('USER');
      expect(second.cookies.get('behalf_session')).not.toBe(first.cookies.get('behalf_session'));
      expect(await accountsOf(bob.id)).toHaveLength(1);
    });

    test('leads back to a path of ours and to no other place', async () => {
      for (const [returnTo, reached] of [
        ['/api/user?from=login', '/api/user?from=login'],
        ['https://evil.example/', '/'],
        ['//evil.example/', '/'],
        ['/\\evil.example/', '/'],
        ['javascript:alert(1)', '/'],
      ]) {
        const answer = await createVisitor(gateway).signIn(bob.id, returnTo);
        expect([returnTo, answer.headers.get('location')]).toEqual([returnTo, reached]);
      }
    });

    test('joins nobody by an email', async () => {
      const [local] = (await createUsers(gateway, [{ name: 'Carol', role: 'ADMIN' }])) as [TestUser];
      const federated = await arrive(carol);
      expect(federated.id).not.toBe(local.id);
      expect(federated.role).toBe('USER');
      expect((await federated.get('/api/admin/users')).status).toBe(403);
      expect(await (await local.get('/api/user')).json()).toMatchObject({ id: local.id, role: 'ADMIN' });
      const found = await (await admin.get(`/api/admin/users?search=${carol.email}`)).json();
      expect(found).toMatchObject({ users: [{ email: carol.email }, { email: carol.email }], next: null });
    });
  });

  test('a role that an administrator gave stays, until claims count again', async () => {
    const editor = { name: 'EDITOR', permissions: { MCP_SERVERS: { USE: true } } };
    expect((await admin.post('/api/admin/roles', editor)).status).toBe(201);
    const { id, role } = await arrive(dave);
    expect(role).toBe('USER');
    await change(id, { role: 'EDITOR' });
    dave.roles = ['ADMIN'];
    expect((await arrive(dave)).role).toBe('EDITOR');
    const bearer = createTokenCaller(gateway.url, gateway.idp.tokens.mint({ user: dave.id }));
    expect(await (await bearer.get('/api/user')).json()).toMatchObject({ id, role: 'EDITOR' });

    await change(id, { roleSource: 'claim' });
    expect((await arrive(dave)).role).toBe('ADMIN');
    const old = gateway.idp.tokens.mint({ user: dave.id });
    dave.roles = [];
    // Of two tokens the younger one is believed, and their time is in seconds.
    const iat = Math.floor(systemClock.now() / 1_000) + 5;
    const younger = gateway.idp.tokens.mint({ user: dave.id, claims: { iat } });
    for (const token of [younger, old]) {
      const response = await createTokenCaller(gateway.url, token).get('/api/user');
      expect(await response.json()).toMatchObject({ id, role: 'USER' });
    }
  });

  test('a disabled user is out at once, and by no door in again', async () => {
    const visitor = await arrive(eve);
    const bearer = createTokenCaller(gateway.url, gateway.idp.tokens.mint({ user: eve.id }));
    expect((await bearer.call('shared', 'echo')).status).toBe(200);
    await change(visitor.id, { disabled: true });
    expect(await visitor.readUser()).toBeNull();
    expect((await bearer.get('/api/user')).status).toBe(401);
    expect(await bearer.call('shared', 'echo')).toMatchObject({
      status: 401,
      body: { code: 'AUTH_TOKEN_INVALID' },
    });
    const again = createVisitor(gateway);
    expectNoLogin(await again.signIn(eve.id), 'forbidden');
    expect(await again.readUser()).toBeNull();
    await change(visitor.id, { disabled: false });
    expect((await arrive(eve)).id).toBe(visitor.id);
  });

  test('a server for a group is there for its members alone', async () => {
    const staff = await arrive(ada);
    const other = await arrive(bob);
    const echo = (visitor: typeof staff) =>
      visitor.post(toolCallPath('staffroom', 'echo'), { arguments: {} }, { 'x-behalf-csrf': '1' });
    expect(await (await staff.get('/api/mcp/tools')).text()).toContain('staffroom');
    expect((await echo(staff)).status).toBe(200);
    expect(await (await other.get('/api/mcp/tools')).text()).not.toContain('staffroom');
    expect((await echo(other)).status).toBe(404);
    // What a token says counts for that token: no session widens it.
    const bearer = createTokenCaller(
      gateway.url,
      gateway.idp.tokens.mint({ user: ada.id, claims: { groups: [] } }),
    );
    expect((await bearer.call('staffroom', 'echo')).status).toBe(404);
    const member = createTokenCaller(gateway.url, gateway.idp.tokens.mint({ user: ada.id }));
    expect((await member.call('staffroom', 'echo')).status).toBe(200);
    ada.groups = [];
    expect((await echo(await arrive(ada))).status).toBe(404);
    ada.groups = ['staff'];
  });

  describe('an answer that is not the one to this login', () => {
    /** Nobody came of it, and nothing that was there is gone. */
    async function refused(visitor: ReturnType<typeof createVisitor>, callback: URL): Promise<void> {
      expectNoLogin(await visitor.followCallback(callback));
      expect(await visitor.readUser()).toBeNull();
    }
    const edited = (callback: URL, edit: (query: URLSearchParams) => void) => {
      const url = new URL(callback);
      edit(url.searchParams);
      return url;
    };

    test('without the cookie of the browser that began it', async () => {
      const callback = await createVisitor(gateway).chooseUser(bob.id);
      await refused(createVisitor(gateway), callback);
    });

    test('of another attempt, in another browser or the same', async () => {
      const [victim, attacker] = [createVisitor(gateway), createVisitor(gateway)];
      const ofAttacker = await attacker.chooseUser(bob.id);
      // Signing a victim in as the attacker (RFC 6749, section 10.12).
      await victim.startLogin();
      await refused(victim, ofAttacker);
      // The victim's own state with the attacker's code: the proof key is another.
      const ofVictim = await victim.chooseUser(bob.id);
      const code = ofAttacker.searchParams.get('code') ?? '';
      await refused(
        victim,
        edited(ofVictim, (query) => query.set('code', code)),
      );
      const first = await victim.chooseUser(bob.id);
      await victim.startLogin();
      await refused(victim, first);
    });

    test('once more after it was used', async () => {
      const visitor = createVisitor(gateway);
      const callback = await visitor.chooseUser(bob.id);
      const flow = visitor.cookies.get('behalf_openid') ?? '';
      expect((await visitor.followCallback(callback)).headers.get('location')).toBe('/');
      expectNoLogin(await visitor.followCallback(callback));
      // Whoever kept the cookie as well: the provider gives nothing for a code twice.
      const thief = createVisitor(gateway);
      thief.cookies.set('behalf_openid', flow);
      await refused(thief, callback);
    });

    test('in the name of another issuer, or of none', async () => {
      const visitor = createVisitor(gateway);
      for (const edit of [
        (query: URLSearchParams) => query.set('iss', 'https://evil.example'),
        (query: URLSearchParams) => query.delete('iss'),
        (query: URLSearchParams) => query.delete('state'),
      ]) {
        await refused(visitor, edited(await visitor.chooseUser(bob.id), edit));
      }
      // And with nothing edited it works: the edits are what was refused.
      expect((await visitor.followCallback(await visitor.chooseUser(bob.id))).headers.get('location')).toBe(
        '/',
      );
    });

    test('with a cookie that we did not make', async () => {
      const visitor = createVisitor(gateway);
      const callback = await visitor.chooseUser(bob.id);
      const flow = visitor.cookies.get('behalf_openid') ?? '';
      visitor.cookies.set('behalf_openid', `${flow.slice(0, -4)}AAAA`);
      await refused(visitor, callback);
    });

    test('and the words of a refusal are shown and logged nowhere', async () => {
      const visitor = createVisitor(gateway);
      const state = (await visitor.startLogin()).searchParams.get('state') ?? '';
      const said = { error: 'access_denied', error_description: 'planted words', iss: gateway.idp.issuer };
      const callback = new URL('/oauth/openid/callback', gateway.url);
      callback.search = new URLSearchParams({ ...said, state }).toString();
      await refused(visitor, callback);
      expect(JSON.stringify(gateway.logged)).not.toContain('planted words');
    });
  });

  describe('the tokens of a sign-in', () => {
    const keyring = () =>
      createKeyring(loadKeys({ configured: undefined, dataDir: gateway.dataDir, random }), random);

    /** As the gateway itself would read them. */
    async function tokensOf(label: string) {
      const record = (await readRecords(gateway, 'credentials')).find((one) => one.label === label);
      if (!record?.sealed) return null;
      const opened = keyring().open(record.sealed, toCredentialSealContext(record));
      return JSON.parse(opened) as { accessToken: string; refreshToken?: string; idToken?: string };
    }
    const sessionsOf = async (id: string) =>
      (await readRecords(gateway, 'sessions')).filter(({ userId }) => userId === id).map(({ hash }) => hash);

    test('are kept sealed, and leave the gateway by no door', async () => {
      const before = (await accountsOf(ada.id)).flatMap(({ id }) => id);
      const known = new Set((await Promise.all(before.map(sessionsOf))).flat());
      const visitor = await arrive(ada);
      const session = (await sessionsOf(visitor.id)).find((hash) => !known.has(hash)) ?? '';
      const tokens = await tokensOf(session);
      const planted = [tokens?.accessToken, tokens?.refreshToken, tokens?.idToken].map(String);
      expect(planted.every((token) => token.length > 40)).toBe(true);

      let shown = '';
      for (const { method, path } of gateway.routes) {
        if (method !== 'get') continue;
        const filled = path.replace(/:\w+/g, (name) => (name === ':id' ? visitor.id : 'shared'));
        const response = await visitor.get(filled);
        shown += JSON.stringify([...response.headers]) + (await response.text());
      }
      expect(shown).toContain(visitor.id);
      const logged = JSON.stringify(gateway.logged);
      const stored = await dumpStore(gateway);
      expect(stored).toContain(visitor.id);
      for (const secret of [...planted, CLIENT_SECRET]) {
        // The signature alone would do no harm, and says as well that the token was there.
        for (const part of [secret, ...secret.split('.').filter((piece) => piece.length > 100)]) {
          expect([shown, logged, stored].map((text) => text.includes(part))).toEqual([false, false, false]);
        }
      }
    });

    test('are gone with the sign-out, and other sessions are not', async () => {
      const known = new Set((await readRecords(gateway, 'sessions')).map(({ hash }) => hash));
      const leaving = await arrive(bob);
      const staying = await arrive(bob);
      const [first = '', second = ''] = (await sessionsOf(leaving.id)).filter((hash) => !known.has(hash));
      expect(await tokensOf(first)).not.toBeNull();
      expect(await tokensOf(second)).not.toBeNull();
      const cookie = leaving.cookies.get('behalf_session') ?? '';
      expect((await leaving.post('/api/auth/logout')).status).toBe(204);

      const otherVisitor = createVisitor(gateway);
      otherVisitor.cookies.set('behalf_session', cookie);
      expect(await otherVisitor.readUser()).toBeNull();
      expect(await staying.readUser()).toMatchObject({ id: leaving.id });
      const left = [await tokensOf(first), await tokensOf(second)].filter((tokens) => tokens !== null);
      expect(left).toHaveLength(1);
      const labels = (await readRecords(gateway, 'credentials')).map(({ label }) => label);
      expect([first, second].filter((hash) => labels.includes(hash))).toHaveLength(1);
    });
  });
});
