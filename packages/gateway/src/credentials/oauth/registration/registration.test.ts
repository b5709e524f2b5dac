import { aPrincipal } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeSignInRigs, signInScene, visit, type SceneOptions } from '../../../../test/signInRig.ts';
import { credentialHolder } from '../../credentialHolder.ts';
import { buildClientDocument } from './clientDocument.ts';

afterEach(closeSignInRigs);

const user = (n: number) =>
  aPrincipal({ userId: `u-${n}`, authentication: { via: 'session', session: `s-${n}` } });
const BASE = 'https://behalf.example';

/** Published under a public name: what the authorization server fetches is what we serve there. */
async function published(options: SceneOptions = {}) {
  const read: string[] = [];
  const scene = await signInScene({
    base: BASE,
    ...options,
    authorization: {
      clientDocuments: true,
      registration: false,
      ...options.authorization,
      async fetchDocument(url: string): Promise<unknown> {
        read.push(url);
        if (url === `${BASE}/oauth/jwks.json`) return scene.oauth.documentKey.jwks();
        const kind = url.startsWith(`${BASE}/oauth/client/public/`) ? 'none' : 'key';
        return buildClientDocument(BASE, scene.serverOf('files'), kind);
      },
    },
  });
  return { ...scene, read };
}

describe('who we are at an authorization server', () => {
  test('twenty sign-ins at once register one client', async () => {
    const scene = await signInScene({ authorization: { registeredAuthMethod: 'client_secret_basic' } });
    const replica = scene.replica();
    const left = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? scene : replica).leave('files', { principal: user(n) })),
    );
    const ids = left.map(({ opened }) => new URL(opened.url).searchParams.get('client_id'));
    expect(new Set(ids).size).toBe(1);
    expect(scene.as.counters.registrations).toBe(1);
    const [request] = scene.as.received('register');
    expect(JSON.parse(request?.form['document'] ?? '{}')).toMatchObject({
      redirect_uris: ['http://localhost:3080/api/mcp/files/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'native',
    });
  });

  test('the way to prove itself that it was given counts', async () => {
    for (const method of ['none', 'client_secret_basic', 'client_secret_post']) {
      const scene = await signInScene({
        authorization: {
          registeredAuthMethod: method,
          metadata: { token_endpoint_auth_methods_supported: [method] },
        },
      });
      expect(await scene.signIn('files')).toMatchObject({ ok: true });
      expect(scene.as.received('token').at(-1)?.clientAuth?.method).toBe(method);
    }
  });

  test('a client that is not known any more is registered anew once, and never with a code in hand', async () => {
    const scene = await signInScene();
    const { opened } = await scene.leave('files');
    const back = await visit(opened.url);
    const [first = ''] = scene.as.clientIds;
    scene.as.forgetClient(first);
    expect(await scene.finish(back)).toMatchObject({ error: 'token_exchange_failed' });
    expect(scene.as.counters).toMatchObject({ registrations: 1, tokenHits: 1 });
    expect(await scene.signIn('files')).toMatchObject({ ok: true });
    expect(scene.as.counters.registrations).toBe(2);

    // The same while a token is renewed.
    const [second = ''] = scene.as.clientIds;
    scene.as.forgetClient(second);
    scene.clock.pass(2 * 60 * 60 * 1000);
    expect(await scene.vault.token(scene.keyOf('files'))).toMatchObject({ kind: 'needs_reauth' });
    await scene.vault.token(scene.keyOf('files'));
    expect(scene.as.counters.registrations).toBe(3);
    expect(await scene.signIn('files')).toMatchObject({ ok: true });
    expect(scene.as.counters.registrations).toBe(3);
  });

  test('who is refused for a moment and cannot register anew stays who they were', async () => {
    const scene = await signInScene();
    await scene.signIn('files');
    const before = await scene.store.raw.page('oauthClients', null, 10);
    scene.clock.pass(2 * 60 * 60 * 1000);
    scene.as.respondNext('token', { status: 401, body: { error: 'invalid_client' } });
    scene.as.respondNext('register', { status: 503 });
    expect(await scene.vault.token(scene.keyOf('files'))).toMatchObject({ kind: 'misconfigured' });
    expect(await scene.store.raw.page('oauthClients', null, 10)).toEqual(before);
    scene.clock.pass(10 * 60 * 1000);
    expect(await scene.vault.token(scene.keyOf('files'))).toMatchObject({ kind: 'token' });
    expect(scene.as.counters.registrations).toBe(1);
  });

  test('many that are refused at once are registered anew once', async () => {
    const scene = await signInScene();
    const people = Array.from({ length: 5 }, (_, index) => user(index));
    for (const principal of people) await scene.signIn('files', { principal });
    const [first = ''] = scene.as.clientIds;
    scene.as.forgetClient(first);
    scene.clock.pass(2 * 60 * 60 * 1000);
    const key = scene.keyOf('files');
    const renewed = await Promise.all(
      people.map((principal) => scene.vault.token({ ...key, principal: credentialHolder(principal) })),
    );
    expect(renewed.map(({ kind }) => kind)).toEqual(people.map(() => 'needs_reauth'));
    expect(scene.as.counters.registrations).toBe(2);
    const [registration, ...others] = await scene.store.raw.page('oauthClients', null, 10);
    expect([others, registration?.clientId === first]).toEqual([[], false]);
  });

  test('one that the definition names is never dropped, whatever it is answered', async () => {
    const scene = await signInScene({
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
    expect(await scene.signIn('files')).toMatchObject({ ok: true });
    const { opened } = await scene.leave('files');
    const back = await visit(opened.url);
    scene.as.forgetClient('ours');
    expect(await scene.finish(back)).toMatchObject({ error: 'token_exchange_failed' });
    const again = await scene.leave('files');
    expect(new URL(again.opened.url).searchParams.get('client_id')).toBe('ours');
    expect(scene.as.counters.registrations).toBe(0);
  });

  test('a client proves itself as its authorization server takes it, on every leg', async () => {
    for (const method of ['client_secret_post', 'client_secret_basic'] as const) {
      const scene = await signInScene({
        authorization: {
          clients: [{ clientId: 'ours', authMethod: method, secret: 's3cret' }],
          metadata: { token_endpoint_auth_methods_supported: [method] },
        },
        definition: ({ issuer }) => ({ oauth: { client_id: 'ours', client_secret: 's3cret', issuer } }),
      });
      expect(await scene.signIn('files')).toMatchObject({ ok: true });
      scene.clock.pass(2 * 60 * 60 * 1000);
      // Also a process that has read no metadata.
      const other = scene.replica();
      expect(await other.vault.token(scene.keyOf('files'))).toMatchObject({ kind: 'token' });
      expect(await other.vault.disconnect(scene.keyOf('files'))).toMatchObject({ revoked: 'yes' });
      const legs = [...scene.as.received('token'), ...scene.as.received('revoke')];
      expect(legs.map(({ clientAuth }) => clientAuth)).toEqual(
        legs.map(() => ({ method, clientId: 'ours' })),
      );
      expect(legs.length).toBeGreaterThanOrEqual(3);
    }
  });

  test('a registration that is over, or does not open, is made anew', async () => {
    const scene = await signInScene();
    await scene.leave('files');
    const [record] = await scene.store.raw.page('oauthClients', null, 10);
    if (!record) throw new Error('none');
    const { tenant, serverId, issuer, redirectUri } = record;
    await scene.store.oauthClients.remove({ tenant, serverId, issuer, redirectUri }, record.clientId);
    await scene.store.oauthClients.insert({ ...record, expiresAt: scene.clock.now() + 60_000 });
    await scene.leave('files', { principal: user(1) });
    expect(scene.as.counters.registrations).toBe(2);
    const [next] = await scene.store.raw.page('oauthClients', null, 10);
    if (!next) throw new Error('none');
    await scene.store.oauthClients.remove({ tenant, serverId, issuer, redirectUri }, next.clientId);
    await scene.store.oauthClients.insert({ ...next, sealed: record.sealed });
    await scene.leave('files', { principal: user(2) });
    expect(scene.as.counters.registrations).toBe(3);
  });

  test('the document that is fetched names itself, and its key proves us', async () => {
    const scene = await published();
    expect(await scene.signIn('files')).toMatchObject({ ok: true });
    const clientId = `${BASE}/oauth/client/files.json`;
    expect(scene.read).toContain(clientId);
    expect(scene.read).toContain(`${BASE}/oauth/jwks.json`);
    expect(buildClientDocument(BASE, scene.serverOf('files'), 'key')).toEqual({
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
    expect(scene.as.received('token').at(-1)?.clientAuth).toEqual({ method: 'private_key_jwt', clientId });
    // Renewed with the same proof.
    scene.clock.pass(2 * 60 * 60 * 1000);
    expect(await scene.vault.token(scene.keyOf('files'))).toMatchObject({ kind: 'token' });
  });

  test('where only public clients are taken, there is a document for that', async () => {
    const scene = await published({
      authorization: { metadata: { token_endpoint_auth_methods_supported: ['none'] } },
    });
    expect(await scene.signIn('files')).toMatchObject({ ok: true });
    const clientId = `${BASE}/oauth/client/public/files.json`;
    expect(scene.as.received('token').at(-1)?.clientAuth).toEqual({ method: 'none', clientId });
  });

  test('it comes before a registration and after what is configured, and needs https', async () => {
    const both = await published({ authorization: { registration: true } });
    await both.leave('files');
    expect(both.as.counters.registrations).toBe(0);
    const configured = await published({ definition: () => ({ oauth: { client_id: 'c1' } }) });
    const { opened } = await configured.leave('files');
    expect(new URL(opened.url).searchParams.get('client_id')).toBe('c1');
    const plain = await published({ base: 'http://localhost:3080' });
    await expect(plain.leave('files')).rejects.toMatchObject({ problem: 'no_client' });
    expect(buildClientDocument('http://localhost:3080', plain.serverOf('files'), 'key')).toBeNull();
  });

  test('all replicas sign with one key, which the store holds sealed', async () => {
    const scene = await published();
    const [one, other] = await Promise.all([
      scene.oauth.documentKey.jwks(),
      scene.replica().oauth.documentKey.jwks(),
    ]);
    expect(one).toEqual(other);
    expect(Object.keys(one.keys[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    const rows = JSON.stringify(await scene.store.raw.page('oauthClients', null, 10));
    expect(rows).not.toContain('PRIVATE KEY');
  });

  test('with the profile of Entra `resource` is sent on none of the three legs', async () => {
    const scope = 'api://files/read openid';
    for (const options of [
      { issuer: { profile: 'entra' }, definition: ({ issuer }) => ({ oauth: { issuer, scope } }) },
      { issuer: { resource: 'omit' }, definition: ({ issuer }) => ({ oauth: { issuer, scope } }) },
      { definition: () => ({ oauth: { resource: 'omit', scope } }) },
      { definition: () => ({ oauth: { resource: 'omit', audience: 'api://files' } }) },
    ] as SceneOptions[]) {
      const scene = await signInScene({
        authorization: { resource: 'ignore' },
        guard: { checksAudience: false },
        ...options,
      });
      expect(await scene.signIn('files')).toMatchObject({ ok: true });
      scene.clock.pass(2 * 60 * 60 * 1000);
      expect(await scene.vault.token(scene.keyOf('files'))).toMatchObject({ kind: 'token' });
      const legs = [...scene.as.received('authorize'), ...scene.as.received('token')];
      expect(legs).toHaveLength(3);
      for (const { form } of legs) expect(form).not.toHaveProperty('resource');
      expect(scene.logged.map(({ event }) => event)).toContain('oauth_resource_omitted');
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
      const scene = await signInScene({
        guard: { checksAudience: false, metadata: { scopes_supported: [] } },
        definition: () => ({ oauth: { resource: 'omit', ...(scope && { scope }) } }),
      });
      const left = scene.leave('files');
      if (isNamed) await left;
      else await expect(left).rejects.toMatchObject({ problem: 'audience_missing' });
      expect(scene.as.counters.registrations).toBe(isNamed ? 1 : 0);
    }
  });

  test('who merely names the issuer in their metadata is not spared it', async () => {
    const origins: string[] = [];
    const scene = await signInScene({ issuer: { resource: 'omit', origins } });
    const { opened } = await scene.leave('files');
    expect(new URL(opened.url).searchParams.get('resource')).toBe(scene.mcp.url);
    const listed = await signInScene({
      issuer: { resource: 'omit', origins },
      definition: () => ({ oauth: { scope: 'api://files/read' } }),
    });
    origins.push(new URL(listed.mcp.url).origin);
    const left = await listed.leave('files');
    expect(new URL(left.opened.url).searchParams.has('resource')).toBe(false);
  });

  test('else it is sent on all three, as the server is called or as the operator says', async () => {
    for (const resource of [undefined, 'https://api.example/files']) {
      const scene = await signInScene({
        guard: { checksAudience: false },
        ...(resource !== undefined && { definition: () => ({ oauth: { resource: resource } }) }),
      });
      expect(await scene.signIn('files')).toMatchObject({ ok: true });
      scene.clock.pass(2 * 60 * 60 * 1000);
      expect(await scene.vault.token(scene.keyOf('files'))).toMatchObject({ kind: 'token' });
      const legs = [...scene.as.received('authorize'), ...scene.as.received('token')];
      expect(legs.map(({ form }) => form['resource'])).toEqual(Array(3).fill(resource ?? scene.mcp.url));
    }
  });
});
