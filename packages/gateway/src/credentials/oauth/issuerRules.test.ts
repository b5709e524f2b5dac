import { aPrincipal, guardedMcpServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeSignInRigs,
  createSignInRig,
  createSignInServerRig,
  type SignInServerRigOptions,
} from '../../../test/signInRig.ts';
import { createRegistryRig, createStoredDefinition } from '../../../test/registryRig.ts';
import { createIssuerRules } from './issuers.ts';
import { areRelatedHosts } from './addresses.ts';
import { toSignInTarget } from './signInTarget.ts';

afterEach(closeSignInRigs);

const REFUSED = { code: 'MCP_AUTHORIZATION_SERVER_REFUSED' };
const at = (name: string) => (url: string) => url.replace('127.0.0.1', name);

/** A user's server that names an authorization server which ignores `resource`: its tokens are good anywhere. */
function hostile(options: SignInServerRigOptions = {}) {
  return createSignInServerRig({
    isStored: true,
    ...options,
    authorization: { resource: 'ignore', ...options.authorization },
    guard: { checksAudience: false, ...options.guard },
  });
}

describe('a server that names somebody else’s authorization server', () => {
  const clients: Record<string, SignInServerRigOptions> = {
    'a registered client': {},
    'our document': { baseUrl: 'https://behalf.example', authorization: { clientDocuments: true } },
    'a client of its own': {
      authorization: { clients: [{ clientId: 'theirs', authMethod: 'none' }] },
      definition: () => ({ oauth: { client_id: 'theirs' } }),
    },
  };
  for (const [name, options] of Object.entries(clients)) {
    test(`gets no token of the one where people sign in here, with ${name}`, async () => {
      // Under whatever name of it: one place is one authorization server.
      for (const path of ['', '/tenant/v2.0', '/token']) {
        const rig = await sameIssuer(options, (url) => [`${url}${path}`]);
        await expect(rig.startSignIn('files')).rejects.toMatchObject(REFUSED);
        expect(rig.as.counters).toMatchObject({ registrations: 0, authorizations: 0, tokenHits: 0 });
        expect(rig.mcp.guardedRequests.filter(({ bearer }) => bearer !== null)).toEqual([]);
        expect(rig.reasons()).toContain('issuer_guarded');
      }
    });

    test(`gets no token of the one that the operator’s server uses, with ${name}`, async () => {
      for (const how of ['written', 'named', 'found'] as const) {
        const rig = await hostile({
          ...options,
          otherServers: ({ issuer, url }) => ({
            theirs: {
              type: 'streamable-http',
              url,
              ...(how === 'found' && { requiresOAuth: true }),
              ...(how === 'named' && { oauth: { issuer } }),
              ...(how === 'written' && {
                oauth: {
                  client_id: 'x',
                  authorization_url: `${issuer}/authorize`,
                  token_url: `${issuer}/token`,
                },
              }),
            },
          }),
        });
        await expect(rig.startSignIn('files')).rejects.toMatchObject(REFUSED);
        expect(rig.as.counters).toMatchObject({ registrations: 0, authorizations: 0, tokenHits: 0 });
        // The operator's own may go there.
        if (how === 'found') await rig.startSignIn('theirs');
      }
    });
  }

  /** The identity provider is the very one that the server names. */
  async function sameIssuer(
    options: SignInServerRigOptions,
    identity: (issuer: string) => readonly string[],
    issuer?: object,
  ) {
    const urls: string[] = [];
    const rig = await hostile({ ...options, identityUrls: urls, ...(issuer && { issuer }) });
    urls.push(...identity(rig.as.issuer));
    return rig;
  }

  test('under no other name of the same place', async () => {
    const { registry } = createRegistryRig({}, { stored: [createStoredDefinition()] });
    const server = registry.find('default', 'mine');
    const target = server && toSignInTarget(server, {});
    if (!target) throw new Error('no server');
    const rules = createIssuerRules({
      issuerSettings: () => ({
        issuers: {},
        identityUrls: ['https://login.microsoftonline.com/contoso/v2.0', 'https://auth.example/one'],
      }),
      operatorIssuers: {
        list: () => Promise.resolve({ urls: [], isComplete: true }),
        readCached: () => Promise.resolve({ urls: [], isComplete: true }),
      },
      log: () => undefined,
    });
    for (const [issuer, isFree] of [
      ['https://login.microsoftonline.com/common/v2.0', false],
      ['https://login.windows.net/contoso', false],
      ['https://sts.windows.net/contoso', false],
      ['https://auth.example', false],
      ['https://auth.example./one', false],
      ['https://AUTH.example:443/two', false],
      ['https://auth.example:8443', true],
      ['https://other.example', true],
    ] as const) {
      expect([issuer, await rules.isGrantAllowed(target, issuer, [])]).toEqual([issuer, isFree]);
    }
  });

  test('unless the operator lists the pair', async () => {
    const origins: string[] = [];
    const rig = await sameIssuer({}, (url) => [url], { origins });
    await expect(rig.startSignIn('files')).rejects.toMatchObject(REFUSED);
    origins.push('https://another.example');
    await expect(rig.startSignIn('files')).rejects.toMatchObject(REFUSED);
    origins.push(`${new URL(rig.mcp.url).origin}/`);
    expect(await rig.signIn('files')).toMatchObject({ ok: true });
  });

  test('an issuer under which `resource` is left out is for listed servers alone', async () => {
    const rig = await hostile({ issuer: { resource: 'omit' } });
    await expect(rig.startSignIn('files')).rejects.toMatchObject(REFUSED);
    expect(rig.reasons()).toContain('resource_omitted');
  });

  test('what was given before a rule came is not presented any more', async () => {
    const urls: string[] = [];
    const rig = await hostile({ identityUrls: urls });
    await rig.signIn('files');
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
    urls.push(rig.as.issuer);
    rig.clock.advance(31_000);
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({
      kind: 'needs_reauth',
      reason: 'unbound',
    });
  });

  test('endpoints stand where their issuer does, or the operator says where', async () => {
    const otherIssuer = 'https://elsewhere.example';
    for (const name of ['authorization', 'token', 'registration', 'revocation']) {
      for (const isStored of [true, false]) {
        const rig = await createSignInServerRig({
          isStored,
          authorization: { metadata: { [`${name}_endpoint`]: `${otherIssuer}/${name}` } },
        });
        await expect(rig.startSignIn('files')).rejects.toMatchObject(REFUSED);
        expect(rig.reasons()).toContain('endpoint_origin');
      }
    }
    const listed = await createSignInServerRig({
      authorization: { metadata: { revocation_endpoint: `${otherIssuer}/revoke` } },
      issuer: { endpointOrigins: [otherIssuer] },
    });
    await listed.startSignIn('files');
  });

  test('of what a user writes down all endpoints stand in one place', async () => {
    const rig = await createSignInServerRig({
      isStored: true,
      definition: ({ endpoints }) => ({
        oauth: {
          client_id: 'x',
          authorization_url: endpoints.authorization,
          token_url: at('localhost')(endpoints.token),
        },
      }),
    });
    await expect(rig.startSignIn('files')).rejects.toMatchObject(REFUSED);
  });

  test('who signs in elsewhere than at the server’s own place is told where tokens go', async () => {
    const opened = async (options: SignInServerRigOptions) => {
      const rig = await createSignInServerRig({ mapUrl: at('localhost'), ...options });
      rig.mcp.guard({ metadata: { resource: at('localhost')(rig.mcp.url) } });
      const { flow, browserSecret = null } = await rig.flows.start(rig.allowedServer('files'), aPrincipal(), {
        bindsBrowser: true,
      });
      return rig.flows.open({
        flowId: flow.flowId,
        serverName: 'files',
        principal: aPrincipal(),
        browserSecret,
      });
    };
    for (const isStored of [true, false]) {
      expect(await opened({ isStored })).toMatchObject({
        kind: 'ask',
        isThirdParty: true,
        serverHost: 'localhost',
        authorizationHost: '127.0.0.1',
      });
    }
    const named = await opened({ definition: ({ issuer }) => ({ oauth: { issuer } }) });
    expect(named.kind).toBe('leave');
    const revoked = await opened({
      definition: ({ endpoints: { revocation } }) => ({ oauth: { revocation_endpoint: revocation } }),
    });
    expect(revoked.kind).toBe('ask');
  });

  test('hosts are related when they are one, or one stands under the other', () => {
    const related = (a: string, b: string) => [areRelatedHosts(a, b), areRelatedHosts(b, a)];
    expect(related('mcp.example.com', 'mcp.example.com')).toEqual([true, true]);
    expect(related('mcp.example.com', 'example.com')).toEqual([true, true]);
    expect(related('MCP.example.com.', 'example.com')).toEqual([true, true]);
    for (const [a, b] of [
      ['mcp.example.com', 'auth.example.com'],
      ['a.co.uk', 'b.co.uk'],
      ['example.com', 'com'],
      ['notexample.com', 'example.com'],
      ['10.0.0.1', '0.0.1'],
      ['1.10.0.0.1', '10.0.0.1'],
      ['[::1]', '[::2]'],
    ] as const) {
      expect(related(a, b)).toEqual([false, false]);
    }
  });

  test('an operator’s server that is away still guards what it said last', async () => {
    const { as, mcp, store, clock } = await hostile();
    const cache = store.cache('issuers');
    const away = await guardedMcpServer({ authorizationServer: as, era: 'modern', tools: [] });
    const servers = { theirs: { type: 'streamable-http', url: away.url, requiresOAuth: true } };
    const options = {
      servers,
      stored: { files: { type: 'streamable-http', url: mcp.url } },
      ports: [as.port, mcp.port, away.port],
    };
    await expect(createSignInRig({ ...options, cache, clock }).startSignIn('files')).rejects.toMatchObject(
      REFUSED,
    );
    await away.close();
    clock.advance(2 * 60 * 60 * 1000);
    // Also in a process that never heard it.
    await expect(createSignInRig({ ...options, cache, clock }).startSignIn('files')).rejects.toMatchObject(
      REFUSED,
    );
    // One that never said anything stops nobody.
    await createSignInRig(options).startSignIn('files');
  });
});
