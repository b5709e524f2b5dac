import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDevAuthority } from '@behalf/devidp';
import { systemDial } from '@behalf/egress';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { createAdministrator } from './browser.ts';
import {
  giveConsent,
  connectClient,
  createAuthorizationClient,
  CLIENT_REDIRECT_URI,
  openAuthorization,
  type AuthorizationClientRig,
} from './authorizationServerRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

describe('clients that describe themselves', () => {
  let dir: string;
  let server: Server;
  let origin: string;
  let gateway: InProcessGateway;
  let authorizationClient: AuthorizationClientRig;
  let ada: Awaited<ReturnType<typeof createAdministrator>>;
  const documents = new Map<string, { body: unknown; headers: Record<string, string> }>();
  /** Whatever the gateway opened, by address: what it was kept from is not there. */
  const dialed: string[] = [];
  /** Paths that were asked for. */
  const requests: string[] = [];
  /** What reached the host of the documents, by whichever way. */
  let connections = 0;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'behalf-clients-'));
    const ca = await createDevAuthority();
    server = createServer(await ca.issue(), (req, res) => {
      const path = req.url ?? '';
      requests.push(path);
      const { body, headers } = documents.get(path) ?? {};
      if (path === '/moved') res.writeHead(302, { location: '/client.json' }).end();
      else
        res
          .writeHead(body ? 200 : 404, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify(body));
    });
    server.on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    origin = `https://localhost:${port}`;
    gateway = await startInProcess(
      {},
      JSON.stringify({
        mcpSettings: { allowedAddresses: [`localhost:${port}`] },
        authorizationServer: { enabled: true, caFile: await ca.writeCaFile(dir) },
      }),
      undefined,
      null,
      (target, signal) => {
        dialed.push(`${target.servername}:${target.port}`);
        return systemDial(target, signal);
      },
    );
    ada = await createAdministrator(gateway);
    authorizationClient = await createAuthorizationClient(gateway.url);
  });
  afterAll(async () => {
    await gateway.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(dir, { recursive: true, force: true });
  });

  afterEach(() => void jest.restoreAllMocks());

  function publish(
    path: string,
    overrides: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): string {
    const clientId = `${origin}${path}`;
    const body = {
      client_id: clientId,
      client_name: 'Described',
      redirect_uris: [CLIENT_REDIRECT_URI],
      ...overrides,
    };
    documents.set(path, { body, headers });
    return clientId;
  }
  const ask = (clientId: string) =>
    openAuthorization(ada, authorizationClient.createAuthorizationRequest(clientId).path, gateway.url);

  test('a client is the address of its document, and its host is shown', async () => {
    const clientId = publish('/client.json');
    const text = await (await ask(clientId)).text();
    expect(text).toContain('<strong>Described</strong>');
    expect(text).toContain(`<strong>${new URL(origin).host}</strong>`);
    const tokens = await connectClient(authorizationClient, ada, gateway.url, clientId);
    expect((await authorizationClient.refreshTokens(clientId, tokens.refresh_token)).status).toBe(200);
  });

  test('a document that is not its own is nobody’s', async () => {
    publish('/client.json');
    const foreign = publish('/foreign.json', { client_id: `${origin}/client.json` });
    const shared = publish('/secret.json', { token_endpoint_auth_method: 'client_secret_post' });
    for (const clientId of [foreign, shared, `${origin}/missing.json`, `${origin}/moved`]) {
      const answer = await ada.get(authorizationClient.createAuthorizationRequest(clientId).path);
      expect([clientId, answer.status, answer.headers.get('location')]).toEqual([clientId, 400, null]);
    }
  });

  test('as long as its answer says, for a minute to a day', async () => {
    const times = (path: string) => requests.filter((each) => each === path).length;
    // The library keeps documents by the time of the machine.
    let later = 0;
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() + later);
    for (const [path, headers, keptMs] of [
      ['/ten.json', { 'cache-control': 'private, max-age=600' }, 10 * MINUTE_MS],
      ['/expires.json', { expires: new Date(now() + 30 * MINUTE_MS).toUTCString() }, 30 * MINUTE_MS],
      ['/short.json', { 'cache-control': 'no-cache, max-age=0' }, MINUTE_MS],
      ['/silent.json', {}, MINUTE_MS],
      ['/year.json', { 'cache-control': 'max-age=31536000' }, DAY_MS],
    ] as const) {
      later = 0;
      const clientId = publish(path, {}, headers);
      for (let round = 0; round < 3; round += 1) expect((await ask(clientId)).status).toBe(200);
      expect([path, times(path)]).toEqual([path, 1]);
      publish(path, { client_name: 'Renamed' }, headers);
      // What the run itself takes must not decide.
      later = keptMs - 30 * SECOND_MS;
      expect(await (await ask(clientId)).text()).toContain('<strong>Described</strong>');
      expect([path, times(path)]).toEqual([path, 1]);
      later = keptMs + SECOND_MS;
      expect(await (await ask(clientId)).text()).toContain('<strong>Renamed</strong>');
      expect([path, times(path)]).toEqual([path, 2]);
    }
  });

  const inPrivateSpace = () => {
    const { port } = server.address() as AddressInfo;
    return [`127.0.0.1:${port}`, `[::1]:${port}`, '10.0.0.1', '169.254.169.254', 'localhost:1'];
  };

  test('nobody makes us ask in private space', async () => {
    const before = [dialed.length, connections];
    for (const host of inPrivateSpace()) {
      const answer = await ada.get(
        authorizationClient.createAuthorizationRequest(`https://${host}/client.json`).path,
      );
      expect([host, answer.status, answer.headers.get('location')]).toEqual([host, 400, null]);
    }
    expect([dialed.length, connections]).toEqual(before);
  });

  test('nor for the keys that a client says it has', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }];
    documents.set('/keys.json', { body: { keys }, headers: {} });

    /** What a client gets that proves itself with keys which are said to be there. */
    async function redeem(path: string, jwksUri: string): Promise<number> {
      const clientId = publish(path, {
        ...{ token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: 'ES256' },
        jwks_uri: jwksUri,
      });
      const { path: request, verifier } = authorizationClient.createAuthorizationRequest(clientId);
      const code = (await giveConsent(ada, request, gateway.url)).searchParams.get('code') ?? '';
      const assertion = await new SignJWT({ jti: path })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(authorizationClient.metadata.issuer)
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(privateKey);
      const proof = { client_assertion_type: ASSERTION, client_assertion: assertion };
      return (await authorizationClient.redeemCode(clientId, code, verifier, proof)).status;
    }

    expect(await redeem('/keyed.json', `${origin}/keys.json`)).toBe(200);
    for (const [index, host] of inPrivateSpace().entries()) {
      expect([host, await redeem(`/keyed-${index}.json`, `https://${host}/keys.json`)]).toEqual([host, 401]);
    }
    // Their documents were asked for, and nothing else.
    expect(dialed.filter((address) => address !== new URL(origin).host)).toEqual([]);
  });
});
