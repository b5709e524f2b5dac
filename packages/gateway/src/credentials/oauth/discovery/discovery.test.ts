import { guardedMcpServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeSignInRigs, signInRig, signInScene, type SceneOptions } from '../../../../test/signInRig.ts';

afterEach(closeSignInRigs);

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

async function discoverWith(options: SceneOptions) {
  const scene = await signInScene(options);
  const outcome = await scene.leave('files').then(
    () => 'left',
    () => scene.reasons().at(-1),
  );
  const paths = scene.mcp.requests.map(({ path }) => path).filter((path) => path.startsWith('/.well-known'));
  const metadata = scene.as.requests
    .map(({ path }) => path)
    .filter((path) => path.startsWith('/.well-known') || path.includes('/.well-known'));
  return { outcome, paths, metadata };
}

describe('where users of a server sign in', () => {
  test('the place that a challenge names is the only one that is asked', async () => {
    const { outcome, paths } = await discoverWith({ guard: { documents: 'root' } });
    expect({ outcome, paths }).toEqual({ outcome: 'left', paths: [WELL_KNOWN] });
    const withoutDocuments = await discoverWith({ guard: { documents: 'none' } });
    expect(withoutDocuments).toMatchObject({
      outcome: 'no_metadata',
      paths: [`${WELL_KNOWN}/mcp`],
      metadata: [],
    });
  });

  test('without one it is the path, then the root', async () => {
    const bare = await discoverWith({ guard: { challenge: 'bare', documents: 'root' } });
    expect(bare).toMatchObject({ outcome: 'left', paths: [`${WELL_KNOWN}/mcp`, WELL_KNOWN] });
    const both = await discoverWith({ guard: { challenge: 'none' } });
    expect(both).toMatchObject({ outcome: 'left', paths: [`${WELL_KNOWN}/mcp`] });
    const none = await discoverWith({ guard: { challenge: 'none', documents: 'none' } });
    expect(none).toMatchObject({ outcome: 'no_metadata', metadata: [] });
  });

  test('where everybody may come in, what wants a token is asked as well', async () => {
    for (const isModern of [true, false]) {
      const scene = await signInScene({ guard: { access: 'anonymous' } });
      const challenge = `Bearer scope="mcp:basic", resource_metadata="${scene.mcp.metadataUrl}"`;
      scene.mcp.change({
        respond: ({ message, headers }) => {
          if (message?.method === 'tools/list') {
            expect(headers).toMatchObject(
              isModern ? { 'mcp-protocol-version': '2026-07-28' } : { 'mcp-session-id': 's-1' },
            );
            return { status: 401, headers: { 'www-authenticate': challenge } };
          }
          return isModern ? { status: 400 } : { status: 200, body: {}, headers: { 'mcp-session-id': 's-1' } };
        },
      });
      const { opened } = await scene.leave('files');
      expect(new URL(opened.url).searchParams.get('scope')).toBe('mcp:basic offline_access');
      const ended = scene.mcp.requests.filter(({ verb }) => verb === 'DELETE');
      expect(ended.map(({ headers }) => headers['mcp-session-id'])).toEqual(isModern ? [] : ['s-1']);
    }
  });

  test('of an issuer with and without a path, in the order of the standards', async () => {
    const documents = 'none' as const;
    const plain = await discoverWith({ authorization: { documents } });
    expect(plain.metadata).toEqual([
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
    ]);
    const withPath = await discoverWith({ authorization: { documents, issuerPath: '/tenant' } });
    expect(withPath).toMatchObject({
      outcome: 'no_metadata',
      metadata: [
        '/.well-known/oauth-authorization-server/tenant',
        '/.well-known/openid-configuration/tenant',
        '/tenant/.well-known/openid-configuration',
      ],
    });
    for (const found of ['oauth', 'oidc'] as const) {
      const one = await discoverWith({ authorization: { documents: found, issuerPath: '/tenant' } });
      expect(one.outcome).toBe('left');
    }
  });

  test('what the definition writes down takes the place of all of it', async () => {
    const scene = await signInScene({
      authorization: { documents: 'none', clients: [{ clientId: 'c1', authMethod: 'none' }] },
      definition: ({ endpoints: { authorization, token } }) => ({
        oauth: { authorization_url: authorization, token_url: token, client_id: 'c1' },
      }),
    });
    expect(await scene.signIn('files')).toMatchObject({ ok: true });
    expect(scene.mcp.requests).toEqual([]);
    expect(scene.as.counters.metadataReads).toBe(0);
  });

  test('metadata that speaks of another address is not believed', async () => {
    const wrong = ['https://elsewhere.example/mcp', 'http://127.0.0.1:1/mcp', 'not an address', 7];
    for (const resource of wrong) {
      const { outcome, metadata } = await discoverWith({ guard: { metadata: { resource } } });
      expect({ outcome, metadata }).toEqual({ outcome: 'resource_mismatch', metadata: [] });
    }
  });

  test('for all of an origin speaks its root alone', async () => {
    const scene = await signInScene({ guard: { documents: 'both' } });
    const { origin } = new URL(scene.mcp.url);
    scene.mcp.guard({ metadata: { resource: origin } });
    await expect(scene.leave('files')).rejects.toThrow('another address');
    scene.mcp.guard({ documents: 'root' });
    const { opened } = await scene.leave('files');
    expect(new URL(opened.url).searchParams.get('resource')).toBe(origin);
  });

  test('of a user’s server not even that', async () => {
    const scene = await signInScene({ isStored: true, guard: { documents: 'root', challenge: 'bare' } });
    const { origin } = new URL(scene.mcp.url);
    scene.mcp.guard({ metadata: { resource: origin } });
    await expect(scene.leave('files')).rejects.toMatchObject({ problem: 'resource_mismatch' });
    scene.mcp.guard({ metadata: { resource: scene.mcp.url } });
    const { opened } = await scene.leave('files');
    expect(new URL(opened.url).searchParams.get('resource')).toBe(scene.mcp.url);
  });

  test('a slash, a case and a default port make no other address', async () => {
    const scene = await signInScene({});
    scene.mcp.guard({ metadata: { resource: `${scene.mcp.url.replace('http:', 'HTTP:')}/` } });
    const { opened } = await scene.leave('files');
    expect(new URL(opened.url).searchParams.get('resource')).toBe(scene.mcp.url);
  });

  test('the issuer is compared letter by letter', async () => {
    const scene = await signInScene({});
    const { issuer, origin } = scene.as;
    for (const named of [
      `${issuer}/`,
      issuer.replace('http:', 'HTTP:'),
      issuer.replace('127.0.0.1', 'localhost'),
      `${origin}/other`,
      undefined,
    ]) {
      scene.as.change({ metadata: { issuer: named } });
      await expect(scene.leave('files')).rejects.toMatchObject({ problem: 'issuer_mismatch' });
    }
    expect(scene.as.counters.registrations).toBe(0);
  });

  test('of several the configured one counts, and must be among them', async () => {
    const other = 'https://other.example';
    const scene = await signInScene({ definition: ({ issuer }) => ({ oauth: { issuer } }) });
    scene.mcp.guard({ metadata: { authorization_servers: [other, scene.as.issuer] } });
    await scene.leave('files');
    const strict = await signInScene({ definition: () => ({ oauth: { issuer: other } }) });
    await expect(strict.leave('files')).rejects.toMatchObject({ problem: 'no_authorization_server' });
  });

  test('without S256 there is no sign-in', async () => {
    for (const pkceMethods of [null, ['plain'], []]) {
      const { outcome } = await discoverWith({ authorization: { pkceMethods } });
      expect(outcome).toBe('pkce_missing');
    }
  });

  test('what a user writes down says nothing of it', async () => {
    const written = async (authorization: SceneOptions['authorization'], more: object = {}) => {
      const { outcome } = await discoverWith({
        isStored: true,
        authorization: { clients: [{ clientId: 'c1', authMethod: 'none' }], ...authorization },
        definition: ({ endpoints: { authorization: authorization_url, token: token_url } }) => ({
          oauth: { client_id: 'c1', authorization_url, token_url, ...more },
        }),
      });
      return outcome;
    };
    expect(await written({})).toBe('left');
    const unsaid: SceneOptions['authorization'][] = [
      { pkceMethods: null },
      { pkceMethods: ['plain'] },
      { documents: 'none' },
      { metadata: { token_endpoint: 'http://127.0.0.1:1/token' } },
      { metadata: { authorization_endpoint: 'http://127.0.0.1:1/authorize' } },
    ];
    for (const authorization of unsaid) {
      expect(await written(authorization)).toBe('pkce_missing');
      expect(await written(authorization, { code_challenge_methods_supported: ['S256'] })).toBe(
        'pkce_missing',
      );
    }
  });

  test('the operator can say that it is there, and it is used all the same', async () => {
    const authorization = { pkceMethods: null };
    for (const options of [
      { issuer: { pkce: 'assume-s256' } },
      {
        issuer: { profile: 'entra' },
        definition: ({ issuer }) => ({ oauth: { issuer, scope: 'api://files/read' } }),
      },
      { definition: () => ({ oauth: { skip_code_challenge_check: true } }) },
    ] as SceneOptions[]) {
      const scene = await signInScene({ authorization, ...options });
      const { opened } = await scene.leave('files');
      expect(new URL(opened.url).searchParams.get('code_challenge_method')).toBe('S256');
    }
    // A user cannot even say so.
    const stored = await signInScene({
      authorization,
      isStored: true,
      definition: () => ({ oauth: { skip_code_challenge_check: true } }),
    });
    expect(() => stored.serverOf('files')).toThrow('can be set by the operator only');
  });

  test('a server of 2025-03-26 is its own authorization server if the operator says so', async () => {
    const closed = await signInScene({ guard: { documents: 'none', challenge: 'none' } });
    await expect(closed.leave('files')).rejects.toMatchObject({ problem: 'no_metadata' });
    for (const documents of ['both', 'none'] as const) {
      // Without metadata the endpoints are those that the revision names.
      const mcp = await guardedMcpServer({
        era: 'legacy',
        tools: [],
        ownServerOptions: { documents },
        guard: { documents: 'none', challenge: 'none' },
      });
      const rig = signInRig({
        servers: { old: { type: 'streamable-http', url: mcp.url, oauth: { legacyAuthDiscovery: true } } },
        ports: [mcp.port],
      });
      expect(await rig.signIn('old')).toMatchObject({ ok: true });
      await mcp.close();
    }
  });

  test('metadata is read once an hour, by whoever asks', async () => {
    const scene = await signInScene({});
    await scene.leave('files');
    expect(scene.as.counters.metadataReads).toBe(1);
    await scene.flows.cancel(scene.serverOf('files'), (await scene.leave('files')).principal);
    await scene.leave('files');
    expect(scene.as.counters.metadataReads).toBe(1);
    scene.clock.pass(61 * 60 * 1000);
    await scene.leave('files');
    expect(scene.as.counters.metadataReads).toBe(2);
  });

  test('an endpoint that is gone is looked for anew', async () => {
    const scene = await signInScene({});
    scene.as.respondNext('register', { status: 404 });
    await expect(scene.leave('files')).rejects.toMatchObject({ problem: 'registration_refused' });
    scene.as.respondNext('token', { status: 404 });
    expect(await scene.signIn('files')).toMatchObject({ error: 'token_exchange_failed' });
    expect(await scene.signIn('files')).toMatchObject({ ok: true });
    expect(scene.as.counters.metadataReads).toBe(3);
  });

  test('what is asked for is what the challenge names, else what is published', async () => {
    const scopesOf = async (options: SceneOptions) => {
      const scene = await signInScene(options);
      return new URL((await scene.leave('files')).opened.url).searchParams.get('scope');
    };
    expect(await scopesOf({ guard: { challengeScope: 'mcp:read' } })).toBe('mcp:read offline_access');
    expect(await scopesOf({})).toBe('mcp:read mcp:write offline_access');
    expect(await scopesOf({ guard: { metadata: { scopes_supported: undefined } } })).toBe(null);
    expect(await scopesOf({ definition: () => ({ oauth: { scope: 'one two' } }) })).toBe('one two');
    expect(await scopesOf({ authorization: { metadata: { scopes_supported: ['mcp:read'] } } })).toBe(
      'mcp:read mcp:write',
    );
  });
});
