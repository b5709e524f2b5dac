import { aPrincipal } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type SignInServerRigOptions,
  closeSignInRigs,
  createSignInServerRig,
  followRedirect,
} from '../../../test/signInRig.ts';
import { credentialHolder } from '../../principal/credentialHolder.ts';
import { buildClientDocument } from './clientDocument.ts';

afterEach(closeSignInRigs);

const user = (n: number) =>
  aPrincipal({ userId: `u-${n}`, authentication: { via: 'session', session: `s-${n}` } });
const BASE = 'https://behalf.example';

/** Published under a public name: what the authorization server fetches is what we serve there. */
async function published(options: SignInServerRigOptions = {}) {
  const read: string[] = [];
  const rig = await createSignInServerRig({
    baseUrl: BASE,
    ...options,
    authorization: {
      clientDocuments: true,
      registration: false,
      ...options.authorization,
      async fetchDocument(url: string): Promise<unknown> {
        read.push(url);
        if (url === `${BASE}/oauth/jwks.json`) return rig.oauth.documentKey.jwks();
        const kind = url.startsWith(`${BASE}/oauth/client/public/`) ? 'none' : 'key';
        return buildClientDocument(BASE, rig.allowedServer('files'), kind);
      },
    },
  });
  return { ...rig, read };
}

describe('who we are at an authorization server', () => {
  test('twenty sign-ins at once register one client', async () => {
    const rig = await createSignInServerRig({
      authorization: { registeredAuthMethod: 'client_secret_basic' },
    });
    const replica = rig.replica();
    const left = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? rig : replica).startSignIn('files', { principal: user(n) }),
      ),
    );
    const ids = left.map(({ opened }) => new URL(opened.url).searchParams.get('client_id'));
    expect(new Set(ids).size).toBe(1);
    expect(rig.as.counters.registrations).toBe(1);
    const [request] = rig.as.received('register');
    expect(JSON.parse(request?.form['document'] ?? '{}')).toMatchObject({
      redirect_uris: ['http://localhost:3080/api/mcp/files/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'native',
    });
  });

  test('the way to prove itself that it was given counts', async () => {
    for (const method of ['none', 'client_secret_basic', 'client_secret_post']) {
      const rig = await createSignInServerRig({
        authorization: {
          registeredAuthMethod: method,
          metadata: { token_endpoint_auth_methods_supported: [method] },
        },
      });
      expect(await rig.signIn('files')).toMatchObject({ ok: true });
      expect(rig.as.received('token').at(-1)?.clientAuth?.method).toBe(method);
    }
  });

  test('a client that is not known any more is registered anew once, and never with a code in hand', async () => {
    const rig = await createSignInServerRig();
    const { opened } = await rig.startSignIn('files');
    const back = await followRedirect(opened.url);
    const [first = ''] = rig.as.clientIds;
    rig.as.forgetClient(first);
    expect(await rig.finishSignIn(back)).toMatchObject({ error: 'token_exchange_failed' });
    expect(rig.as.counters).toMatchObject({ registrations: 1, tokenHits: 1 });
    expect(await rig.signIn('files')).toMatchObject({ ok: true });
    expect(rig.as.counters.registrations).toBe(2);

    // The same while a token is renewed.
    const [second = ''] = rig.as.clientIds;
    rig.as.forgetClient(second);
    rig.clock.advance(2 * 60 * 60 * 1000);
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'needs_reauth' });
    await rig.vault.token(rig.keyOf('files'));
    expect(rig.as.counters.registrations).toBe(3);
    expect(await rig.signIn('files')).toMatchObject({ ok: true });
    expect(rig.as.counters.registrations).toBe(3);
  });

  test('who is refused for a moment and cannot register anew stays who they were', async () => {
    const rig = await createSignInServerRig();
    await rig.signIn('files');
    const before = await rig.store.raw.page('oauthClients', null, 10);
    rig.clock.advance(2 * 60 * 60 * 1000);
    rig.as.respondNext('token', { status: 401, body: { error: 'invalid_client' } });
    rig.as.respondNext('register', { status: 503 });
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'misconfigured' });
    expect(await rig.store.raw.page('oauthClients', null, 10)).toEqual(before);
    rig.clock.advance(10 * 60 * 1000);
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
    expect(rig.as.counters.registrations).toBe(1);
  });

  test('many that are refused at once are registered anew once', async () => {
    const rig = await createSignInServerRig();
    const users = Array.from({ length: 5 }, (_, index) => user(index));
    for (const principal of users) await rig.signIn('files', { principal });
    const [first = ''] = rig.as.clientIds;
    rig.as.forgetClient(first);
    rig.clock.advance(2 * 60 * 60 * 1000);
    const key = rig.keyOf('files');
    const renewed = await Promise.all(
      users.map((principal) => rig.vault.token({ ...key, principal: credentialHolder(principal) })),
    );
    expect(renewed.map(({ kind }) => kind)).toEqual(users.map(() => 'needs_reauth'));
    expect(rig.as.counters.registrations).toBe(2);
    const [registration, ...others] = await rig.store.raw.page('oauthClients', null, 10);
    expect([others, registration?.clientId === first]).toEqual([[], false]);
  });

  test('one that the definition names is never dropped, whatever it is answered', async () => {
    const rig = await createSignInServerRig({
      authorization: {
        clients: [{ clientId: 'ours', authMethod: 'client_secret_post', secret: 's3cret' }],
      },
      definition: ({ issuer }) => ({
        oauth: {
          client_id: 'ours',
          client_secret: 's3cret',
          issuer,
          token_exchange_method: 'default_post',
        },
      }),
    });
    expect(await rig.signIn('files')).toMatchObject({ ok: true });
    const { opened } = await rig.startSignIn('files');
    const back = await followRedirect(opened.url);
    rig.as.forgetClient('ours');
    expect(await rig.finishSignIn(back)).toMatchObject({ error: 'token_exchange_failed' });
    const again = await rig.startSignIn('files');
    expect(new URL(again.opened.url).searchParams.get('client_id')).toBe('ours');
    expect(rig.as.counters.registrations).toBe(0);
  });

  test('a client proves itself as its authorization server takes it, on every leg', async () => {
    for (const method of ['client_secret_post', 'client_secret_basic'] as const) {
      const rig = await createSignInServerRig({
        authorization: {
          clients: [{ clientId: 'ours', authMethod: method, secret: 's3cret' }],
          metadata: { token_endpoint_auth_methods_supported: [method] },
        },
        definition: ({ issuer }) => ({ oauth: { client_id: 'ours', client_secret: 's3cret', issuer } }),
      });
      expect(await rig.signIn('files')).toMatchObject({ ok: true });
      rig.clock.advance(2 * 60 * 60 * 1000);
      // Also a process that has read no metadata.
      const other = rig.replica();
      expect(await other.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
      expect(await other.vault.disconnect(rig.keyOf('files'))).toMatchObject({ revoked: 'yes' });
      const legs = [...rig.as.received('token'), ...rig.as.received('revoke')];
      expect(legs.map(({ clientAuth }) => clientAuth)).toEqual(
        legs.map(() => ({ method, clientId: 'ours' })),
      );
      expect(legs.length).toBeGreaterThanOrEqual(3);
    }
  });

  test('a registration that is over, or does not open, is made anew', async () => {
    const rig = await createSignInServerRig();
    await rig.startSignIn('files');
    const [record] = await rig.store.raw.page('oauthClients', null, 10);
    if (!record) throw new Error('none');
    const { tenant, serverId, issuer, redirectUri } = record;
    await rig.store.oauthClients.remove({ tenant, serverId, issuer, redirectUri }, record.clientId);
    await rig.store.oauthClients.insert({ ...record, expiresAt: rig.clock.now() + 60_000 });
    await rig.startSignIn('files', { principal: user(1) });
    expect(rig.as.counters.registrations).toBe(2);
    const [next] = await rig.store.raw.page('oauthClients', null, 10);
    if (!next) throw new Error('none');
    await rig.store.oauthClients.remove({ tenant, serverId, issuer, redirectUri }, next.clientId);
    await rig.store.oauthClients.insert({ ...next, sealed: record.sealed });
    await rig.startSignIn('files', { principal: user(2) });
    expect(rig.as.counters.registrations).toBe(3);
  });

  test('the document that is fetched names itself, and its key proves us', async () => {
    const rig = await published();
    expect(await rig.signIn('files')).toMatchObject({ ok: true });
    const clientId = `${BASE}/oauth/client/files.json`;
    expect(rig.read).toContain(clientId);
    expect(rig.read).toContain(`${BASE}/oauth/jwks.json`);
    expect(buildClientDocument(BASE, rig.allowedServer('files'), 'key')).toEqual({
      client_id: clientId,
      client_name: 'Behalf (behalf.example)',
      client_uri: BASE,
      redirect_uris: [`${BASE}/api/mcp/files/oauth/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'web',
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks_uri: `${BASE}/oauth/jwks.json`,
    });
    expect(rig.as.received('token').at(-1)?.clientAuth).toEqual({ method: 'private_key_jwt', clientId });
    // Renewed with the same proof.
    rig.clock.advance(2 * 60 * 60 * 1000);
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
  });

  test('where only public clients are taken, there is a document for that', async () => {
    const rig = await published({
      authorization: { metadata: { token_endpoint_auth_methods_supported: ['none'] } },
    });
    expect(await rig.signIn('files')).toMatchObject({ ok: true });
    const clientId = `${BASE}/oauth/client/public/files.json`;
    expect(rig.as.received('token').at(-1)?.clientAuth).toEqual({ method: 'none', clientId });
  });

  test('it comes before a registration and after what is configured, and needs https', async () => {
    const both = await published({ authorization: { registration: true } });
    await both.startSignIn('files');
    expect(both.as.counters.registrations).toBe(0);
    const configured = await published({ definition: () => ({ oauth: { client_id: 'c1' } }) });
    const { opened } = await configured.startSignIn('files');
    expect(new URL(opened.url).searchParams.get('client_id')).toBe('c1');
    const plain = await published({ baseUrl: 'http://localhost:3080' });
    await expect(plain.startSignIn('files')).rejects.toMatchObject({ problem: 'no_client' });
    expect(buildClientDocument('http://localhost:3080', plain.allowedServer('files'), 'key')).toBeNull();
  });

  test('all replicas sign with one key, which the store holds sealed', async () => {
    const rig = await published();
    const [one, other] = await Promise.all([
      rig.oauth.documentKey.jwks(),
      rig.replica().oauth.documentKey.jwks(),
    ]);
    expect(one).toEqual(other);
    expect(Object.keys(one.keys[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    const rows = JSON.stringify(await rig.store.raw.page('oauthClients', null, 10));
    expect(rows).not.toContain('PRIVATE KEY');
  });

  test('with the profile of Entra `resource` is sent on none of the three legs', async () => {
    const scope = 'api://files/read openid';
    for (const options of [
      { issuer: { profile: 'entra' }, definition: ({ issuer }) => ({ oauth: { issuer, scope } }) },
      { issuer: { resource: 'omit' }, definition: ({ issuer }) => ({ oauth: { issuer, scope } }) },
      { definition: () => ({ oauth: { resource: 'omit', scope } }) },
      { definition: () => ({ oauth: { resource: 'omit', audience: 'api://files' } }) },
    ] as SignInServerRigOptions[]) {
      const rig = await createSignInServerRig({
        authorization: { resource: 'ignore' },
        guard: { checksAudience: false },
        ...options,
      });
      expect(await rig.signIn('files')).toMatchObject({ ok: true });
      rig.clock.advance(2 * 60 * 60 * 1000);
      expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
      const legs = [...rig.as.received('authorize'), ...rig.as.received('token')];
      expect(legs).toHaveLength(3);
      for (const { form } of legs) expect(form).not.toHaveProperty('resource');
      expect(rig.logged.map(({ event }) => event)).toContain('oauth_resource_omitted');
    }
  });

  test('without it each scope names its audience', async () => {
    for (const [scope, isNamed] of [
      ['api://files/read https://files.example/.default offline_access', true],
      ['api://files/read User.Read', false],
      ['openid profile offline_access', false],
      ['/read', false],
      ['api://files/', false],
      [undefined, false],
    ] as const) {
      const rig = await createSignInServerRig({
        guard: { checksAudience: false, metadata: { scopes_supported: [] } },
        definition: () => ({ oauth: { resource: 'omit', ...(scope && { scope }) } }),
      });
      const left = rig.startSignIn('files');
      if (isNamed) await left;
      else await expect(left).rejects.toMatchObject({ problem: 'audience_missing' });
      expect(rig.as.counters.registrations).toBe(isNamed ? 1 : 0);
    }
  });

  test('who merely names the issuer in their metadata is not spared it', async () => {
    const origins: string[] = [];
    const rig = await createSignInServerRig({ issuer: { resource: 'omit', origins } });
    const { opened } = await rig.startSignIn('files');
    expect(new URL(opened.url).searchParams.get('resource')).toBe(rig.mcp.url);
    const listed = await createSignInServerRig({
      issuer: { resource: 'omit', origins },
      definition: () => ({ oauth: { scope: 'api://files/read' } }),
    });
    origins.push(new URL(listed.mcp.url).origin);
    const left = await listed.startSignIn('files');
    expect(new URL(left.opened.url).searchParams.has('resource')).toBe(false);
  });

  test('else it is sent on all three, as the server is called or as the operator says', async () => {
    for (const resource of [undefined, 'https://api.example/files']) {
      const rig = await createSignInServerRig({
        guard: { checksAudience: false },
        ...(resource !== undefined && { definition: () => ({ oauth: { resource: resource } }) }),
      });
      expect(await rig.signIn('files')).toMatchObject({ ok: true });
      rig.clock.advance(2 * 60 * 60 * 1000);
      expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
      const legs = [...rig.as.received('authorize'), ...rig.as.received('token')];
      expect(legs.map(({ form }) => form['resource'])).toEqual(Array(3).fill(resource ?? rig.mcp.url));
    }
  });
});
