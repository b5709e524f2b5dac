import { aPrincipal, guardedMcpServer, startAuthorizationServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeSignInRigs, signInRig, signInScene, type SceneOptions } from '../../../test/signInRig.ts';

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
const hostile = (options: SceneOptions) =>
  signInScene({
    isStored: true,
    ...options,
    authorization: { resource: 'ignore', ...options.authorization },
  });

async function refused(options: SceneOptions) {
  const scene = await hostile(options);
  await expect(scene.leave('files')).rejects.toMatchObject(REFUSED);
  expect(scene.reasons()).toContain('issuer_guarded');
  expect(scene.as.counters).toMatchObject({ registrations: 0, authorizations: 0, tokenHits: 0 });
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
      await refused({ others: (at) => ({ theirs: { ...remote, ...variables, ...definition(at) } }) });
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
      others: ({ issuer, url }) => ({ theirs: { ...remote, url, oauth: { issuer } } }),
      definition: () => ({
        oauth: { client_id: 'x', authorization_url: `${at}/authorize`, token_url: `${at}/token` },
      }),
    });
  });

  test('stay guarded when an administrator lays something over a server', async () => {
    await refused({
      others: ({ issuer, url }) => ({ theirs: { ...remote, url, oauth: { issuer } } }),
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
    const options = { morePorts: [port], others: () => ({ theirs }), urlOf: toLocalhost };
    const scene = await hostile(options);
    scene.mcp.guard({ metadata: { resource: toLocalhost(scene.mcp.url) } });
    await expect(scene.leave('files')).rejects.toMatchObject(AWAY);
    expect(scene.logged.map(({ event }) => event)).toContain('oauth_issuer_check_incomplete');
    expect(scene.as.counters).toMatchObject({ registrations: 0, authorizations: 0 });
    // The operator's own may, and so may who is listed, and who signs users in at their own place.
    const origins: string[] = [];
    const listed = await hostile({ ...options, issuer: { origins } });
    listed.mcp.guard({ metadata: { resource: toLocalhost(listed.mcp.url) } });
    origins.push(new URL(toLocalhost(listed.mcp.url)).origin);
    await listed.leave('files');
    await (await hostile({ ...options, urlOf: (url) => url })).leave('files');
  });

  test('the same when it is the login that never said', async () => {
    let isAway = true;
    const scene = await hostile({
      urlOf: toLocalhost,
      identity: {
        list: () => ['https://pool.example'],
        endpointsOf: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve([])),
      },
    });
    scene.mcp.guard({ metadata: { resource: toLocalhost(scene.mcp.url) } });
    await expect(scene.leave('files')).rejects.toMatchObject(AWAY);
    isAway = false;
    scene.clock.pass(61_000);
    await scene.leave('files');
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
    const before = signInRig(options);
    expect(await before.vault.token(before.keyOf('files'))).toMatchObject({ kind: 'token' });
    await expect(signInRig(options).leave('files')).rejects.toMatchObject(REFUSED);
    const requests = theirs.requests.length;
    const after = signInRig(options);
    expect(await after.vault.token(after.keyOf('files'))).toMatchObject({
      kind: 'needs_reauth',
      reason: 'unbound',
    });
    expect(theirs.requests).toHaveLength(requests);
  });

  test('a server guards the one that it uses, not all that it names', async () => {
    const other = await startAuthorizationServer();
    closing.push(other);
    const scene = await hostile({
      morePorts: [other.port],
      others: ({ url }) => ({ theirs: { ...remote, url, requiresOAuth: true } }),
    });
    const names = (...servers: string[]) => scene.mcp.guard({ metadata: { authorization_servers: servers } });
    names(other.issuer, scene.as.issuer, 'https://third.example');
    await scene.leave('files');
    names(other.issuer);
    const bob = aPrincipal({ userId: 'u-bob' });
    await expect(scene.leave('files', { principal: bob })).rejects.toMatchObject(REFUSED);
  });
});
