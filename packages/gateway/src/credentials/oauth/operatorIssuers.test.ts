import { aPrincipal, guardedMcpServer, startAuthorizationServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeSignInRigs,
  createSignInRig,
  createSignInServerRig,
  type SignInServerRigOptions,
} from '../../../test/signInRig.ts';

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of closing.splice(0)) await part.close();
  await closeSignInRigs();
});

const REFUSED = { code: 'MCP_AUTHORIZATION_SERVER_REFUSED' };
const AWAY = { code: 'UPSTREAM_AUTH_UNAVAILABLE' };
const remote = { type: 'streamable-http' };
const variables = { customUserVars: { KEY: { title: 'Key', description: 'A key' } } };
const toLocalhost = (url: string) => url.replace('127.0.0.1', 'localhost');

/** A server of a user that names whom `as` stands for. */
const hostile = (options: SignInServerRigOptions) =>
  createSignInServerRig({
    isStored: true,
    ...options,
    authorization: { resource: 'ignore', ...options.authorization },
  });

async function refused(options: SignInServerRigOptions) {
  const rig = await hostile(options);
  await expect(rig.startSignIn('files')).rejects.toMatchObject(REFUSED);
  expect(rig.reasons()).toContain('issuer_guarded');
  expect(rig.as.counters).toMatchObject({ registrations: 0, authorizations: 0, tokenHits: 0 });
}

describe('the authorization servers of the operator', () => {
  test('what is written down guards, whatever else waits for a user’s value', async () => {
    const definitions: ((at: { issuer: string; url: string }) => object)[] = [
      ({ issuer, url }) => ({ url: `${url}/{{KEY}}`, oauth: { issuer } }),
      ({ issuer, url }) => ({ url, oauth: { issuer, client_id: '{{KEY}}' } }),
      ({ issuer }) => ({ url: 'https://{{KEY}}.example/mcp', oauth: { issuer } }),
      ({ issuer, url }) => ({
        url: `${url}/{{KEY}}`,
        oauth: {
          client_id: 'x',
          authorization_url: 'https://{{KEY}}.example/authorize',
          token_url: `${issuer}/{{KEY}}`,
        },
      }),
      ({ issuer, url }) => ({
        url,
        oauth: {
          client_id: 'x',
          authorization_url: 'https://{{KEY}}.example/authorize',
          token_url: `${issuer}/token`,
        },
      }),
      // Nothing of its authorization server is written down, and its address is everybody's: it is asked.
      ({ url }) => ({ url, requiresOAuth: true, oauth: { client_id: '{{KEY}}' } }),
    ];
    for (const definition of definitions) {
      await refused({ otherServers: (at) => ({ theirs: { ...remote, ...variables, ...definition(at) } }) });
    }
  });

  test('are guarded at every place that the login’s metadata gives them', async () => {
    const endpoints: string[] = [];
    await refused({
      identityUrls: ['https://pool.example/eu-1'],
      identity: {
        list: () => ['https://pool.example/eu-1'],
        endpointsOf: () => Promise.resolve(endpoints),
      },
      // As soon as somebody writes down the endpoints, without a name.
      definition: ({ endpoints: { authorization, token } }) => {
        endpoints.push(authorization, token);
        return { oauth: { client_id: 'x', authorization_url: authorization, token_url: token } };
      },
    });
  });

  test('and at every further origin that the operator lists', async () => {
    const at = 'https://auth.pool.example';
    await refused({
      issuer: { endpointOrigins: [at] },
      otherServers: ({ issuer, url }) => ({ theirs: { ...remote, url, oauth: { issuer } } }),
      definition: () => ({
        oauth: { client_id: 'x', authorization_url: `${at}/authorize`, token_url: `${at}/token` },
      }),
    });
  });

  test('stay guarded when an administrator lays something over a server', async () => {
    await refused({
      otherServers: ({ issuer, url }) => ({ theirs: { ...remote, url, oauth: { issuer } } }),
      overrides: [
        {
          tenant: 'default',
          name: 'theirs',
          definition: { url: 'https://moved.example/mcp', oauth: { issuer: 'https://moved.example' } },
          securedBy: 'u1',
        },
      ],
    });
  });

  /** A server of the file that nobody has heard of yet. */
  async function silent() {
    const authorizationServer = await startAuthorizationServer();
    closing.push(authorizationServer);
    const closedServer = await guardedMcpServer({ authorizationServer, era: 'modern', tools: [] });
    await closedServer.close();
    return { theirs: { ...remote, url: closedServer.url, requiresOAuth: true }, port: closedServer.port };
  }

  test('while one of them is not known, nobody signs in at a stranger’s', async () => {
    const { theirs, port } = await silent();
    const options = { morePorts: [port], otherServers: () => ({ theirs }), mapUrl: toLocalhost };
    const rig = await hostile(options);
    rig.mcp.guard({ metadata: { resource: toLocalhost(rig.mcp.url) } });
    await expect(rig.startSignIn('files')).rejects.toMatchObject(AWAY);
    expect(rig.logged.map(({ event }) => event)).toContain('oauth_issuer_check_incomplete');
    expect(rig.as.counters).toMatchObject({ registrations: 0, authorizations: 0 });
    // The operator's own may, and so may who is listed, and who signs users in at their own place.
    const origins: string[] = [];
    const listed = await hostile({ ...options, issuer: { origins } });
    listed.mcp.guard({ metadata: { resource: toLocalhost(listed.mcp.url) } });
    origins.push(new URL(toLocalhost(listed.mcp.url)).origin);
    await listed.startSignIn('files');
    await (await hostile({ ...options, mapUrl: (url) => url })).startSignIn('files');
  });

  test('the same when it is the login that never said', async () => {
    let isAway = true;
    const rig = await hostile({
      mapUrl: toLocalhost,
      identity: {
        list: () => ['https://pool.example'],
        endpointsOf: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve([])),
      },
    });
    rig.mcp.guard({ metadata: { resource: toLocalhost(rig.mcp.url) } });
    await expect(rig.startSignIn('files')).rejects.toMatchObject(AWAY);
    isAway = false;
    rig.clock.advance(61_000);
    await rig.startSignIn('files');
  });

  test('what one said before a restart counts for grants after it', async () => {
    const { as, mcp, store, clock, signIn } = await hostile({});
    await signIn('files');
    const cache = store.cache('issuers');
    const theirs = await guardedMcpServer({ authorizationServer: as, era: 'modern', tools: [] });
    closing.push(theirs);
    const options = {
      servers: { theirs: { ...remote, url: theirs.url, requiresOAuth: true } },
      stored: { files: { ...remote, url: mcp.url } },
      ports: [as.port, mcp.port, theirs.port],
      ...{ store, cache, clock },
    };
    // Nobody has asked it yet: what was given stays.
    const before = createSignInRig(options);
    expect(await before.vault.token(before.keyOf('files'))).toMatchObject({ kind: 'token' });
    await expect(createSignInRig(options).startSignIn('files')).rejects.toMatchObject(REFUSED);
    const requests = theirs.requests.length;
    const after = createSignInRig(options);
    expect(await after.vault.token(after.keyOf('files'))).toMatchObject({
      kind: 'needs_reauth',
      reason: 'unbound',
    });
    expect(theirs.requests).toHaveLength(requests);
  });

  test('a server guards the one that it uses, not all that it names', async () => {
    const other = await startAuthorizationServer();
    closing.push(other);
    const rig = await hostile({
      morePorts: [other.port],
      otherServers: ({ url }) => ({ theirs: { ...remote, url, requiresOAuth: true } }),
    });
    const names = (...servers: string[]) => rig.mcp.guard({ metadata: { authorization_servers: servers } });
    names(other.issuer, rig.as.issuer, 'https://third.example');
    await rig.startSignIn('files');
    names(other.issuer);
    const bob = aPrincipal({ userId: 'u-bob' });
    await expect(rig.startSignIn('files', { principal: bob })).rejects.toMatchObject(REFUSED);
  });
});
