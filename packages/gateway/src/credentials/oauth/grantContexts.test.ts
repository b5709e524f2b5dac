import { generateKeyPairSync } from 'node:crypto';
import { aPrincipal, startAuthorizationServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeSignInRigs, createSignInRig, createSignInServerRig } from '../../../test/signInRig.ts';

afterEach(closeSignInRigs);

const HOUR_MS = 60 * 60 * 1000;

describe('what a grant is renewed with', () => {
  /** Connected, and then defined otherwise. */
  async function redefined(
    change: (rig: Awaited<ReturnType<typeof createSignInServerRig>>) => Record<string, unknown>,
  ) {
    const rig = await createSignInServerRig({
      authorization: { clients: [{ clientId: 'c1', authMethod: 'none' }] },
      definition: () => ({ oauth: { client_id: 'c1' } }),
    });
    await rig.signIn('files');
    const files = {
      type: 'streamable-http',
      url: rig.mcp.url,
      requiresOAuth: true,
      oauth: { client_id: 'c1' },
      ...change(rig),
    };
    const after = createSignInRig({
      servers: { files },
      store: rig.store,
      clock: rig.clock,
      network: rig.network,
    });
    return { rig, outcome: await after.vault.token(after.keyOf('files')), after };
  }

  test('another address, issuer, client or resource ends it, and nothing is sent', async () => {
    const other = await startAuthorizationServer({});
    const changes: ((rig: Awaited<ReturnType<typeof createSignInServerRig>>) => Record<string, unknown>)[] = [
      ({ mcp }) => ({ url: `${mcp.url}/other` }),
      () => ({ oauth: { client_id: 'c2' } }),
      () => ({ oauth: { client_id: 'c1', issuer: other.issuer } }),
      () => ({
        oauth: {
          client_id: 'c1',
          authorization_url: other.endpoints.authorization,
          token_url: other.endpoints.token,
        },
      }),
      () => ({ oauth: { client_id: 'c1', resource: 'https://api.example' } }),
      () => ({ oauth: { client_id: 'c1', resource: 'omit' } }),
    ];
    for (const change of changes) {
      const { rig, outcome } = await redefined(change);
      expect(outcome).toMatchObject({ kind: 'needs_reauth', reason: 'unbound' });
      expect(rig.as.counters.refreshHits).toBe(0);
    }
    expect(other.counters.tokenHits).toBe(0);
    await other.close();
    const { outcome } = await redefined(() => ({ timeout: 5_000, title: 'Files' }));
    expect(outcome).toMatchObject({ kind: 'token' });
  });

  test('endpoints that were written down are not those that are found', async () => {
    const rig = await createSignInServerRig({
      authorization: { clients: [{ clientId: 'c1', authMethod: 'none' }] },
      definition: ({ endpoints: { authorization, token } }) => ({
        oauth: { client_id: 'c1', authorization_url: authorization, token_url: token },
      }),
    });
    expect(await rig.signIn('files')).toMatchObject({ ok: true });
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
    const files = {
      type: 'streamable-http',
      url: rig.mcp.url,
      requiresOAuth: true,
      oauth: { client_id: 'c1' },
    };
    const after = createSignInRig({
      servers: { files },
      store: rig.store,
      clock: rig.clock,
      network: rig.network,
    });
    expect(await after.vault.token(after.keyOf('files'))).toMatchObject({ reason: 'unbound' });
  });

  test('a renewal asks the token endpoint and nobody else', async () => {
    const rig = await createSignInServerRig();
    await rig.signIn('files');
    const { metadataReads } = rig.as.counters;
    const requestsBefore = rig.mcp.requests.length;
    for (let turn = 1; turn <= 3; turn += 1) {
      rig.clock.advance(2 * HOUR_MS);
      expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
      expect(rig.as.counters.refreshHits).toBe(turn);
    }
    expect(rig.as.counters.metadataReads).toBe(metadataReads);
    expect(rig.mcp.requests).toHaveLength(requestsBefore);
  });

  test('an endpoint that is gone is looked for once more, at the same issuer', async () => {
    const rig = await createSignInServerRig({ authorization: { lifetimeS: 60 } });
    await rig.signIn('files');
    rig.clock.advance(2 * 60_000);
    rig.as.respondNext('token', { status: 404 });
    rig.as.change({ metadata: { token_endpoint: `${rig.as.endpoints.token}?moved` } });
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
    expect(rig.as.counters.metadataReads).toBe(2);
    rig.clock.advance(2 * 60_000);
    rig.as.respondNext('token', { status: 404 });
    rig.as.change({
      metadata: { issuer: 'https://evil.example', token_endpoint: 'https://evil.example/token' },
    });
    const { refreshHits } = rig.as.counters;
    expect(await rig.vault.token(rig.keyOf('files'))).not.toMatchObject({ kind: 'token' });
    expect(rig.as.counters.refreshHits).toBe(refreshHits + 1);
  });
});

describe('a token of our own', () => {
  test('is asked for with a secret or a key, for the server that everybody shares', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (const method of ['client_secret_basic', 'private_key_jwt'] as const) {
      const rig = await createSignInServerRig({
        readText: () => Promise.resolve(pem),
        authorization: {
          clients: [
            method === 'private_key_jwt'
              ? {
                  clientId: 'app',
                  authMethod: method,
                  keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1' }],
                }
              : { clientId: 'app', authMethod: method, secret: 's3cret' },
          ],
        },
        definition: ({ issuer }) => ({
          requiresOAuth: undefined,
          oauth: {
            grant: 'client_credentials',
            issuer,
            client_id: 'app',
            scope: 'mcp:read',
            ...(method === 'private_key_jwt'
              ? { private_key_file: 'key.pem', private_key_id: 'k1' }
              : { client_secret: 's3cret' }),
          },
        }),
      });
      const key = rig.keyOf('files', { tenant: '*', principal: '@app', kind: 'client_credentials' });
      const outcome = await rig.vault.token(key);
      expect(outcome).toMatchObject({ kind: 'token' });
      const [request] = rig.as.received('token');
      expect(request?.clientAuth?.method).toBe(method);
      expect(request?.form).toMatchObject({
        grant_type: 'client_credentials',
        resource: rig.mcp.url,
        scope: 'mcp:read',
      });
      rig.clock.advance(2 * HOUR_MS);
      expect(await rig.vault.token(key)).toMatchObject({ kind: 'token' });
      expect(rig.as.counters).toMatchObject({ tokenHits: 2, refreshHits: 0 });
      await expect(rig.flows.start(rig.allowedServer('files'), aPrincipal())).rejects.toMatchObject({
        problem: 'not_offered',
      });
    }
  });
});

describe('a token that a user brings', () => {
  test('with a refresh token it must be of this issuer and of this client', async () => {
    const rig = await createSignInServerRig({
      authorization: { clients: [{ clientId: 'c1', authMethod: 'none' }] },
      definition: () => ({ oauth: { client_id: 'c1' } }),
    });
    const { accessToken, refreshToken = '' } = rig.as.grant({
      clientId: 'c1',
      resource: rig.mcp.url,
      scope: 'mcp:read',
    });
    const bring = (overrides: object) =>
      rig.oauth.importCredential(rig.allowedServer('files'), aPrincipal(), {
        accessToken,
        refreshToken,
        ...overrides,
      });
    await expect(bring({})).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    await expect(bring({ issuer: rig.as.issuer })).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    for (const wrong of [
      { issuer: `${rig.as.issuer}/`, clientId: 'c1' },
      { issuer: rig.as.issuer, clientId: 'c2' },
    ]) {
      await expect(bring(wrong)).rejects.toMatchObject({ code: 'MCP_CREDENTIAL_UNBOUND' });
    }
    expect(await rig.vault.find(rig.keyOf('files'))).toBeNull();
    const stored = await bring({ issuer: rig.as.issuer, clientId: 'c1', expiresIn: 3_600 });
    expect(JSON.stringify(stored)).not.toContain(accessToken);
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ token: { accessToken } });
    rig.clock.advance(2 * HOUR_MS);
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
    expect(rig.as.counters.refreshHits).toBe(1);
  });

  test('is shown to the server first, and not kept where it is refused', async () => {
    for (const said of ['refused', 'unreachable', 'unverified', 'ok'] as const) {
      const shown: unknown[] = [];
      const rig = await createSignInServerRig({
        probe: async (_server, _principal, { key, token }) => {
          shown.push(token);
          expect(await rig.store.credentials.find(key)).toBeNull();
          return said;
        },
      });
      const bringing = rig.oauth.importCredential(rig.allowedServer('files'), aPrincipal(), {
        accessToken: 'brought',
      });
      if (said === 'refused') await expect(bringing).rejects.toMatchObject({ code: 'MCP_TOKEN_REFUSED' });
      else expect(await bringing).toMatchObject({ probe: said, credential: { status: 'active' } });
      expect(shown).toEqual(['brought']);
      const credential = await rig.vault.find(rig.keyOf('files', { kind: 'static' }));
      expect(credential === null).toBe(said === 'refused');
    }
  });

  test('never takes the label of a sign-in, and gives its own to one', async () => {
    const rig = await createSignInServerRig();
    const bring = (label?: string) =>
      rig.oauth.importCredential(rig.allowedServer('files'), aPrincipal(), {
        accessToken: 'brought',
        ...(label !== undefined && { label }),
      });
    await bring();
    await rig.signIn('files');
    const labels = async () =>
      (await rig.vault.list('default', rig.keyOf('files').principal)).map(({ kind, label }) => [kind, label]);
    expect(await labels()).toEqual([['oauth_code', 'default']]);
    await expect(bring()).rejects.toMatchObject({ code: 'MCP_CREDENTIAL_LABEL_TAKEN' });
    await rig.vault.requireSignIn(rig.keyOf('files'), 'interaction_required');
    await expect(bring('default')).rejects.toMatchObject({ code: 'MCP_CREDENTIAL_LABEL_TAKEN' });
    await bring('brought');
    expect(await labels()).toEqual([
      ['oauth_code', 'default'],
      ['static', 'brought'],
    ]);
    await rig.vault.disconnect(rig.keyOf('files'));
    expect(await bring()).toMatchObject({ credential: { kind: 'static', label: 'default' } });
  });

  test('alone it is presented to its end, and to this address', async () => {
    const rig = await createSignInServerRig();
    await rig.oauth.importCredential(rig.allowedServer('files'), aPrincipal(), {
      accessToken: 'brought',
      expiresIn: 60,
    });
    const key = rig.keyOf('files', { kind: 'static' });
    expect(await rig.vault.token(key)).toMatchObject({ token: { accessToken: 'brought' } });
    rig.clock.advance(61_000);
    expect(await rig.vault.token(key)).toMatchObject({ kind: 'needs_reauth' });
    await rig.oauth.importCredential(rig.allowedServer('files'), aPrincipal(), { accessToken: 'another' });
    expect(await rig.vault.token(key)).toMatchObject({ token: { accessToken: 'another' } });
    const files = { type: 'streamable-http', url: `${rig.mcp.url}/elsewhere`, requiresOAuth: true };
    const after = createSignInRig({
      servers: { files },
      store: rig.store,
      clock: rig.clock,
      network: rig.network,
    });
    expect(await after.vault.token(key)).toMatchObject({ reason: 'unbound' });
  });
});
