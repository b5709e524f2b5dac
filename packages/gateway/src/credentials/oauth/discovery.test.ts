import { guardedMcpServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type SignInServerRigOptions,
  closeSignInRigs,
  createSignInRig,
  createSignInServerRig,
} from '../../../test/signInRig.ts';

afterEach(closeSignInRigs);

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

async function discoverWith(options: SignInServerRigOptions) {
  const rig = await createSignInServerRig(options);
  const outcome = await rig.startSignIn('files').then(
    () => 'left',
    () => rig.reasons().at(-1),
  );
  const paths = rig.mcp.requests.map(({ path }) => path).filter((path) => path.startsWith('/.well-known'));
  const metadata = rig.as.requests
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
      const rig = await createSignInServerRig({ guard: { access: 'anonymous' } });
      const challenge = `Bearer scope="mcp:basic", resource_metadata="${rig.mcp.metadataUrl}"`;
      rig.mcp.change({
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
      const { opened } = await rig.startSignIn('files');
      expect(new URL(opened.url).searchParams.get('scope')).toBe('mcp:basic offline_access');
      const ended = rig.mcp.requests.filter(({ verb }) => verb === 'DELETE');
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
    const rig = await createSignInServerRig({
      authorization: { documents: 'none', clients: [{ clientId: 'c1', authMethod: 'none' }] },
      definition: ({ endpoints: { authorization, token } }) => ({
        oauth: { authorization_url: authorization, token_url: token, client_id: 'c1' },
      }),
    });
    expect(await rig.signIn('files')).toMatchObject({ ok: true });
    expect(rig.mcp.requests).toEqual([]);
    expect(rig.as.counters.metadataReads).toBe(0);
  });

  test('metadata that speaks of another address is not believed', async () => {
    const wrong = ['https://elsewhere.example/mcp', 'http://127.0.0.1:1/mcp', 'not an address', 7];
    for (const resource of wrong) {
      const { outcome, metadata } = await discoverWith({ guard: { metadata: { resource } } });
      expect({ outcome, metadata }).toEqual({ outcome: 'resource_mismatch', metadata: [] });
    }
  });

  test('for all of an origin speaks its root alone', async () => {
    const rig = await createSignInServerRig({ guard: { documents: 'both' } });
    const { origin } = new URL(rig.mcp.url);
    rig.mcp.guard({ metadata: { resource: origin } });
    await expect(rig.startSignIn('files')).rejects.toThrow('does not match the server’s URL');
    rig.mcp.guard({ documents: 'root' });
    const { opened } = await rig.startSignIn('files');
    expect(new URL(opened.url).searchParams.get('resource')).toBe(origin);
  });

  test('of a user’s server not even that', async () => {
    const rig = await createSignInServerRig({
      isStored: true,
      guard: { documents: 'root', challenge: 'bare' },
    });
    const { origin } = new URL(rig.mcp.url);
    rig.mcp.guard({ metadata: { resource: origin } });
    await expect(rig.startSignIn('files')).rejects.toMatchObject({ problem: 'resource_mismatch' });
    rig.mcp.guard({ metadata: { resource: rig.mcp.url } });
    const { opened } = await rig.startSignIn('files');
    expect(new URL(opened.url).searchParams.get('resource')).toBe(rig.mcp.url);
  });

  test('a slash, a case and a default port make no other address', async () => {
    const rig = await createSignInServerRig({});
    rig.mcp.guard({ metadata: { resource: `${rig.mcp.url.replace('http:', 'HTTP:')}/` } });
    const { opened } = await rig.startSignIn('files');
    expect(new URL(opened.url).searchParams.get('resource')).toBe(rig.mcp.url);
  });

  test('the issuer is compared letter by letter', async () => {
    const rig = await createSignInServerRig({});
    const { issuer, origin } = rig.as;
    for (const named of [
      `${issuer}/`,
      issuer.replace('http:', 'HTTP:'),
      issuer.replace('127.0.0.1', 'localhost'),
      `${origin}/other`,
      undefined,
    ]) {
      rig.as.change({ metadata: { issuer: named } });
      await expect(rig.startSignIn('files')).rejects.toMatchObject({ problem: 'issuer_mismatch' });
    }
    expect(rig.as.counters.registrations).toBe(0);
  });

  test('of several the configured one counts, and must be among them', async () => {
    const other = 'https://other.example';
    const rig = await createSignInServerRig({ definition: ({ issuer }) => ({ oauth: { issuer } }) });
    rig.mcp.guard({ metadata: { authorization_servers: [other, rig.as.issuer] } });
    await rig.startSignIn('files');
    const strict = await createSignInServerRig({ definition: () => ({ oauth: { issuer: other } }) });
    await expect(strict.startSignIn('files')).rejects.toMatchObject({ problem: 'no_authorization_server' });
  });

  test('without S256 there is no sign-in', async () => {
    for (const pkceMethods of [null, ['plain'], []]) {
      const { outcome } = await discoverWith({ authorization: { pkceMethods } });
      expect(outcome).toBe('pkce_missing');
    }
  });

  test('what a user writes down says nothing of it', async () => {
    const written = async (authorization: SignInServerRigOptions['authorization'], more: object = {}) => {
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
    const unsaid: SignInServerRigOptions['authorization'][] = [
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
    ] as SignInServerRigOptions[]) {
      const rig = await createSignInServerRig({ authorization, ...options });
      const { opened } = await rig.startSignIn('files');
      expect(new URL(opened.url).searchParams.get('code_challenge_method')).toBe('S256');
    }
    // A user cannot even say so.
    const stored = await createSignInServerRig({
      authorization,
      isStored: true,
      definition: () => ({ oauth: { skip_code_challenge_check: true } }),
    });
    expect(() => stored.allowedServer('files')).toThrow('can be set by the operator only');
  });

  test('a server of 2025-03-26 is its own authorization server if the operator says so', async () => {
    const closed = await createSignInServerRig({ guard: { documents: 'none', challenge: 'none' } });
    await expect(closed.startSignIn('files')).rejects.toMatchObject({ problem: 'no_metadata' });
    for (const documents of ['both', 'none'] as const) {
      // Without metadata the endpoints are those that the revision names.
      const mcp = await guardedMcpServer({
        era: 'legacy',
        tools: [],
        ownServerOptions: { documents },
        guard: { documents: 'none', challenge: 'none' },
      });
      const rig = createSignInRig({
        servers: { old: { type: 'streamable-http', url: mcp.url, oauth: { legacyAuthDiscovery: true } } },
        ports: [mcp.port],
      });
      expect(await rig.signIn('old')).toMatchObject({ ok: true });
      await mcp.close();
    }
  });

  test('metadata is read once an hour, by whoever asks', async () => {
    const rig = await createSignInServerRig({});
    await rig.startSignIn('files');
    expect(rig.as.counters.metadataReads).toBe(1);
    await rig.flows.cancel(rig.allowedServer('files'), (await rig.startSignIn('files')).principal);
    await rig.startSignIn('files');
    expect(rig.as.counters.metadataReads).toBe(1);
    rig.clock.advance(61 * 60 * 1000);
    await rig.startSignIn('files');
    expect(rig.as.counters.metadataReads).toBe(2);
  });

  test('an endpoint that is gone is looked for anew', async () => {
    const rig = await createSignInServerRig({});
    rig.as.respondNext('register', { status: 404 });
    await expect(rig.startSignIn('files')).rejects.toMatchObject({ problem: 'registration_refused' });
    rig.as.respondNext('token', { status: 404 });
    expect(await rig.signIn('files')).toMatchObject({ error: 'token_exchange_failed' });
    expect(await rig.signIn('files')).toMatchObject({ ok: true });
    expect(rig.as.counters.metadataReads).toBe(3);
  });

  test('what is asked for is what the challenge names, else what is published', async () => {
    const scopesOf = async (options: SignInServerRigOptions) => {
      const rig = await createSignInServerRig(options);
      return new URL((await rig.startSignIn('files')).opened.url).searchParams.get('scope');
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
