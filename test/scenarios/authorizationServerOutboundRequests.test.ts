import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createBrowser, createAdministrator } from './browser.ts';
import { startDocumentHost, type DocumentHost } from './documentHost.ts';
import {
  createAuthorizationClient,
  openAuthorization,
  type AuthorizationClientRig,
} from './authorizationServerRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createOffsetClock } from './oboSignInVisitor.ts';

/** More than the library keeps. */
const CROWD = 210;

describe('what clients make the gateway ask for', () => {
  const clock = createOffsetClock();
  let host: DocumentHost;
  let gateway: InProcessGateway;
  let authorizationClient: AuthorizationClientRig;

  beforeAll(async () => {
    host = await startDocumentHost();
    gateway = await startInProcess(
      { TRUST_PROXY: '1' },
      JSON.stringify({
        mcpSettings: { allowedAddresses: [`localhost:${host.port}`] },
        authorizationServer: { enabled: true, caFile: host.caFile },
      }),
      clock,
    );
    authorizationClient = await createAuthorizationClient(gateway.url);
  });
  afterAll(async () => {
    await gateway.close();
    await host.close();
  });

  const from = (address: string) => ({ 'x-forwarded-for': address });
  const hitsOf = (path: string) => host.hitCounts.get(path) ?? 0;
  const ask = async (clientId: string, address: string) =>
    (
      await fetch(gateway.url + authorizationClient.createAuthorizationRequest(clientId).path, {
        ...{ headers: from(address), redirect: 'manual' as const },
      })
    ).status;

  /** A proof of who the client is that is worth nothing, but has to be looked at. */
  const worthless = (clientId: string, jti: string) => {
    const exp = Math.floor(Date.now() / 1_000) + 60;
    const claims = { iss: clientId, sub: clientId, aud: authorizationClient.metadata.issuer, jti, exp };
    const parts = [{ alg: 'ES256', kid: 'k' }, claims].map((part) => JSON.stringify(part));
    return [...parts, 'x'.repeat(64)].map((part) => Buffer.from(part).toString('base64url')).join('.');
  };
  const prove = async (clientId: string, jti: string, address: string) =>
    (
      await authorizationClient.requestToken(
        {
          ...{ grant_type: 'refresh_token', refresh_token: 'none', client_id: clientId },
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: worthless(clientId, jti),
        },
        from(address),
      )
    ).status;

  test('is no address that it has no use for', async () => {
    const sector_identifier_uri = `${host.origin}/sector`;
    host.documents.set('/sector', ['https://client.example/callback']);
    const clientId = host.publish('/sectors.json', { sector_identifier_uri });
    for (let i = 0; i < 20; i += 1) expect(await ask(clientId, '203.0.113.10')).toBe(303);
    expect([hitsOf('/sectors.json'), hitsOf('/sector')]).toEqual([1, 0]);
  });

  test('is no address again and again, whether it answers or not', async () => {
    host.documents.set('/keys', { keys: [] });
    for (const [name, keys] of [
      ['/keyed.json', '/keys'],
      ['/missing.json', '/missing'],
    ] as const) {
      const jwks_uri = host.origin + keys;
      const clientId = host.publish(name, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri });
      for (let i = 0; i < 20; i += 1) expect(await prove(clientId, `${name}-${i}`, '203.0.113.11')).toBe(401);
      expect([hitsOf(name), hitsOf(keys)]).toEqual([1, 1]);
      clock.advance(61_000);
      await prove(clientId, `${name}-later`, '203.0.113.11');
      expect(hitsOf(keys)).toBe(2);
    }
  });

  test('is so much in a minute, keys as well as documents', async () => {
    const clients = Array.from({ length: 25 }, (_, i) =>
      host.publish(`/many-${i}.json`, {
        ...{ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${host.origin}/many-keys-${i}` },
      }),
    );
    for (const [i, clientId] of clients.entries()) await prove(clientId, `many-${i}`, '203.0.113.12');
    const fetchedPaths = [...host.hitCounts].filter(([path]) => path.startsWith('/many-'));
    // What a minute gives, and what came back of it while this ran.
    expect(fetchedPaths.length).toBeGreaterThanOrEqual(30);
    expect(fetchedPaths.length).toBeLessThanOrEqual(40);
    // Nobody else waits for it.
    expect(await ask(host.publish('/other.json'), '203.0.113.13')).toBe(303);
  });

  test('for a consent page is on the account of who reads it', async () => {
    const mallory = createBrowser(gateway.url);
    const removedUrl = host.publish('/gone.json');
    const ada = await createAdministrator(gateway);
    const mine = host.publish('/mine.json');
    const read = async (browser: typeof mallory, clientId: string, address: string) => {
      const response = await browser.send(authorizationClient.createAuthorizationRequest(clientId).path, {
        headers: from(address),
      });
      const { pathname } = new URL(response.headers.get('location') ?? '', gateway.url);
      return () => browser.send(pathname, { headers: from(address) });
    };
    const theirs = await read(mallory, removedUrl, '203.0.113.14');
    const own = await read(ada, mine, '203.0.113.15');
    expect((await own()).status).toBe(200);
    // Neither is remembered any more, and one is not there any more.
    for (let i = 0; i < CROWD; i += 1) await ask(host.publish(`/crowd-${i}.json`), `198.51.100.${i}`);
    clock.advance(61_000);
    host.documents.delete('/gone.json');
    const answers = [];
    for (let i = 0; i < 40; i += 1) {
      answers.push((await theirs()).status);
    }
    // Over, as any other page whose client is not known, and nothing that went wrong here.
    expect(new Set(answers)).toEqual(new Set([400]));
    expect((await own()).status).toBe(200);
    expect(
      (await openAuthorization(ada, authorizationClient.createAuthorizationRequest(mine).path, gateway.url))
        .status,
    ).toBe(200);
  });
});
