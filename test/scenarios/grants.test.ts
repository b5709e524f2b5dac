import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FlowView } from '@behalf/contracts';
import { eventually, guardedMcpServer, startAuthorizationServer } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createGrantRigs, type GrantRig } from './grantRig.ts';
import type { CallBody, TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';
import { readRecords } from './storeDump.ts';
import { completeSignIn } from './completeSignIn.ts';

const createRig = createGrantRigs();
const rig = createGatewayRig();

const authOf = ({ _meta }: CallBody) => _meta?.['behalf/auth'] as Record<string, unknown> | undefined;

describe('auth', () => {
  const anonymous = { guard: { access: 'anonymous' } } as const;

  test('who never signed in goes without; who did goes with it or not at all', async () => {
    const { users, connectUser, mcp } = await createRig({
      names: ['Ada', 'Bob'],
      mcp: anonymous,
      server: { requiresOAuth: undefined, auth: 'optional' },
    });
    const [ada, bob] = users as [TestUser, TestUser];
    for (const who of [ada, bob]) {
      expect((await who.call('notes', 'echo')).body).toMatchObject({ isError: false });
    }
    expect(mcp.guardedRequests.every(({ bearer }) => bearer === null)).toBe(true);
    expect((await connectUser(ada)).pathname).toBe('/oauth/success');
    await ada.call('notes', 'echo');
    expect(mcp.guardedRequests.at(-1)?.bearer).not.toBeNull();
    const ended = await ada.post('/api/mcp/notes/oauth/disconnect', {});
    expect(await ended.json()).toEqual({ disconnected: true, revoked: 'yes' });
    const from = mcp.guardedRequests.length;
    expect(authOf((await ada.call('notes', 'echo')).body)).toMatchObject({ reason: 'revoked' });
    expect(
      mcp.guardedRequests.slice(from).filter(({ request }) => request.message?.method === 'tools/call'),
    ).toEqual([]);
    expect((await bob.call('notes', 'echo')).body).toMatchObject({ isError: false });
  });

  test('nobody goes without where it is required', async () => {
    const { users, mcp } = await createRig({
      mcp: anonymous,
      server: { requiresOAuth: undefined, auth: 'required' },
    });
    const [ada] = users as [TestUser];
    expect(authOf((await ada.call('notes', 'echo')).body)).toMatchObject({ reason: 'absent' });
    expect(mcp.guardedRequests.filter(({ request }) => request.message?.method === 'tools/call')).toEqual([]);
  });

  test('a server of which nothing is said is found to ask for a sign-in', async () => {
    const { users, connectUser, gateway } = await createRig({ server: { requiresOAuth: undefined } });
    const [ada] = users as [TestUser];
    await eventually('it is found out', () =>
      gateway.logged.some(({ event }) => event === 'server_requires_sign_in'),
    );
    expect(authOf((await ada.call('notes', 'echo')).body)).toMatchObject({ reason: 'absent' });
    expect((await connectUser(ada)).pathname).toBe('/oauth/success');
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
  });
});

describe('several credentials', () => {
  test('are told apart by label; the default one is used, and one can be chosen', async () => {
    const { users, connectUser, startSignIn, listCredentials, mcp } = await createRig();
    const [ada] = users as [TestUser];
    await connectUser(ada);
    await connectUser(ada, await startSignIn(ada, { label: 'work' }));
    expect((await listCredentials(ada)).map(({ label, isDefault }) => [label, isDefault])).toEqual([
      ['default', true],
      ['work', false],
    ]);
    await ada.call('notes', 'echo');
    const first = mcp.guardedRequests.at(-1)?.bearer;
    const chosen = await ada.send('PATCH', '/api/mcp/notes/credentials/work', { isDefault: true });
    expect(chosen.status).toBe(200);
    await eventually('the other one is used', async () => {
      await ada.call('notes', 'echo');
      return mcp.guardedRequests.at(-1)?.bearer !== first;
    });
    expect(await listCredentials(ada)).toMatchObject([
      { label: 'default', isDefault: false },
      { label: 'work', isDefault: true },
    ]);
  });
});

describe('a sign-in', () => {
  const bring = (who: TestUser, accessToken: string, label?: string) =>
    who.send('PUT', '/api/mcp/notes/credential', { accessToken, ...(label !== undefined && { label }) });
  const createForeignGrant = ({ as, mcp }: Pick<GrantRig, 'as' | 'mcp'>) => {
    as.addClient({ clientId: 'elsewhere', authMethod: 'none' });
    return as.grant({ clientId: 'elsewhere', resource: mcp.url, scope: 'mcp:read' }).accessToken;
  };

  test('is used from then on, whatever token was brought before it', async () => {
    for (const label of ['default', 'planted']) {
      const at = await createRig();
      const [ada] = at.users as [TestUser];
      const planted = createForeignGrant(at);
      expect((await bring(ada, planted, label)).status).toBe(200);
      await ada.call('notes', 'echo');
      expect(at.mcp.guardedRequests.at(-1)?.bearer).toBe(planted);
      expect((await at.connectUser(ada)).pathname).toBe('/oauth/success');
      expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
      expect(at.mcp.guardedRequests.at(-1)?.bearer).not.toBe(planted);
      const stored = (await at.listCredentials(ada)).map(({ kind, label, isDefault }) => [
        kind,
        label,
        isDefault,
      ]);
      // One label is one credential.
      expect(stored).toEqual([
        ['oauth_code', 'default', true],
        ...(label === 'planted' ? [['static', 'planted', false]] : []),
      ]);
    }
  });

  test('gives way to a token that was brought only where its user says so', async () => {
    const at = await createRig();
    const [ada] = at.users as [TestUser];
    await at.connectUser(ada);
    const brought = createForeignGrant(at);
    await bring(ada, brought, 'brought');
    await ada.call('notes', 'echo');
    expect(at.mcp.guardedRequests.at(-1)?.bearer).not.toBe(brought);
    await ada.send('PATCH', '/api/mcp/notes/credentials/brought', { isDefault: true });
    await eventually('the other one is used', async () => {
      await ada.call('notes', 'echo');
      return at.mcp.guardedRequests.at(-1)?.bearer === brought;
    });
  });

  test('renews what calls are made with, where no label is named', async () => {
    const { users, connectUser, startSignIn, listCredentials } = await createRig({
      names: ['Ada', { name: 'Root', role: 'ADMIN' }],
    });
    const [ada, root] = users as [TestUser, TestUser];
    await connectUser(ada);
    await connectUser(ada, await startSignIn(ada, { label: 'work' }));
    await ada.send('PATCH', '/api/mcp/notes/credentials/work', { isDefault: true });
    await root.post('/api/admin/credentials/reauth', { serverName: 'notes' });
    const [before] = await listCredentials(ada);
    await connectUser(ada);
    expect(await listCredentials(ada)).toMatchObject([
      { label: 'default', status: 'rejected', fingerprint: before?.fingerprint },
      { label: 'work', status: 'active', isDefault: true },
    ]);
  });

  test('is tried with its own token, also beside another one', async () => {
    const { users, connectUser, startSignIn, mcp } = await createRig();
    const [ada] = users as [TestUser];
    await connectUser(ada);
    await ada.call('notes', 'echo');
    const first = mcp.guardedRequests.at(-1)?.bearer;
    const from = mcp.guardedRequests.length;
    await connectUser(ada, await startSignIn(ada, { label: 'work' }));
    const shown = mcp.guardedRequests.slice(from).map(({ bearer }) => bearer);
    expect(shown.some((bearer) => bearer !== null)).toBe(true);
    expect(shown).not.toContain(first);
  });
});

describe('what becomes of a sign-in', () => {
  /** The page at the end, and how the flow stands. */
  async function signIn({ connectUser, startSignIn }: GrantRig, who: TestUser) {
    const started = await startSignIn(who);
    const { flowId } = (await started.clone().json()) as FlowView;
    const end = await connectUser(who, started);
    const status = await who.get(`/api/mcp/oauth/status/${flowId}`);
    return { end: end.pathname + (end.searchParams.get('error') ?? ''), status: await status.json() };
  }

  test('is tried at the server itself, and told as it was', async () => {
    const at = await createRig();
    const [ada] = at.users as [TestUser];
    expect(await signIn(at, ada)).toMatchObject({
      end: '/oauth/success',
      status: { status: 'COMPLETED', probe: 'ok' },
    });
    at.mcp.guard({ access: 'anonymous' });
    expect(await signIn(at, ada)).toMatchObject({
      end: '/oauth/success',
      status: { status: 'COMPLETED', probe: 'unverified' },
    });
    for (const refuse of ['unauthorized', 'forbidden'] as const) {
      at.mcp.guard({ access: 'required', refuse });
      expect(await signIn(at, ada)).toMatchObject({
        end: '/oauth/errorprobe_refused',
        status: { status: 'FAILED', error: 'probe_refused' },
      });
    }
    // It is kept: the server may come to its senses.
    at.mcp.guard({ refuse: 'nothing' });
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
  });
});

describe('the end of a server', () => {
  test('is the end of all that users were given at it', async () => {
    const at = await createRig({
      settings: { interface: { mcpServers: { use: true, create: true } } },
      isAllowedForUsers: true,
    });
    const [ada] = at.users as [TestUser];
    const config = { type: 'streamable-http', url: at.mcp.url, title: 'Mine', oauth: {} };
    const made = await ada.post('/api/mcp/servers', { config });
    expect([made.status, await made.json()]).toMatchObject([201, { serverName: 'mine' }]);
    const start = () => ada.post('/api/mcp/mine/oauth/start', {});
    expect((await completeSignIn(at.gateway.url, ada, await start())).pathname).toBe('/oauth/success');
    await ada.call('mine', 'echo');
    const token = at.mcp.guardedRequests.at(-1)?.bearer ?? '';
    expect(at.as.inspect(token)).toBeDefined();
    const { flowId } = (await (await start()).json()) as FlowView;
    const clients = async () =>
      (await readRecords(at.gateway, 'oauthClients')).filter(({ issuer }) => issuer === at.as.issuer);
    expect(await clients()).toHaveLength(1);
    expect((await ada.send('DELETE', '/api/mcp/servers/mine')).status).toBe(200);
    await eventually('it is revoked', () => at.as.inspect(token) === undefined);
    expect((await ada.get(`/api/mcp/oauth/status/${flowId}`)).status).toBe(404);
    expect([await readRecords(at.gateway, 'credentials'), await clients()]).toEqual([[], []]);
  });

  test('for one user signs them out there', async () => {
    const { users, connectUser, as, mcp, gateway, listCredentials } = await createRig();
    const [ada] = users as [TestUser];
    await connectUser(ada);
    await ada.call('notes', 'echo');
    const token = mcp.guardedRequests.at(-1)?.bearer ?? '';
    const body = { pluginKey: 'mcp_notes', action: 'uninstall', auth: {} };
    const made = await ada.post('/api/user/keys', { name: 'calls', scopes: ['mcp'] });
    const { key } = (await made.json()) as { key: string };
    const byKey = await fetch(new URL('/api/user/plugins', gateway.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(byKey.status).toBe(403);
    expect(as.inspect(token)).toBeDefined();
    expect((await ada.post('/api/user/plugins', body)).status).toBe(200);
    expect(as.inspect(token)).toBeUndefined();
    expect(await listCredentials(ada)).toMatchObject([{ status: 'revoked' }]);
  });
});

describe('a token of ours', () => {
  async function shared(proof: 'secret' | 'key') {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keyFile = join(await mkdtemp(join(tmpdir(), 'behalf-key-')), 'key.pem');
    await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' }];
    const as = await startAuthorizationServer({
      clients: [
        proof === 'secret'
          ? { clientId: 'app', authMethod: 'client_secret_basic', secret: 'app-secret' }
          : { clientId: 'app', authMethod: 'private_key_jwt', keys },
      ],
    });
    const mcp = await guardedMcpServer({ era: 'legacy', authorizationServer: as, tools: [{ name: 'echo' }] });
    const hosts = [mcp.url, as.issuer].map((url) => new URL(url).host);
    const client =
      proof === 'secret'
        ? { client_secret: 'app-secret' }
        : { private_key_file: keyFile, private_key_id: 'k1' };
    const oauth = { grant: 'client_credentials', issuer: as.issuer, client_id: 'app', ...client };
    const yaml = renderYaml(
      { stock: httpDefinition(mcp.url, { oauth }) },
      { mcpSettings: { operatorAddresses: hosts } },
    );
    const users = await rig.start(yaml, ['Ada', 'Bob']);
    const close = async () => {
      await mcp.close();
      await as.close();
    };
    return { as, mcp, users: users as [TestUser, TestUser], close };
  }

  test('serves everybody over one connection, and is asked for once', async () => {
    for (const proof of ['secret', 'key'] as const) {
      const { as, mcp, users, close } = await shared(proof);
      const calls = await Promise.all(
        users.flatMap((who) => Array.from({ length: 5 }, () => who.call('stock', 'echo'))),
      );
      expect(calls.map(({ body }) => body.isError)).toEqual(calls.map(() => false));
      expect([proof, as.counters.tokenHits]).toEqual([proof, 1]);
      expect(as.received('token')[0]).toMatchObject({ form: { grant_type: 'client_credentials' } });
      const opened = mcp.received('initialize').filter(({ headers }) => headers.authorization !== undefined);
      expect(opened).toHaveLength(1);
      await close();
    }
  });

  test('is got anew once when the server refuses it', async () => {
    const { as, mcp, users, close } = await shared('secret');
    const [ada] = users;
    await ada.call('stock', 'echo');
    as.endAccessToken(mcp.guardedRequests.findLast(({ status }) => status === 'served')?.bearer ?? '');
    expect((await ada.call('stock', 'echo')).body).toMatchObject({ isError: false });
    expect(as.counters.tokenHits).toBe(2);
    await close();
  });
});
