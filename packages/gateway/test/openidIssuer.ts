import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';

interface SigningKey {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export interface ReceivedTokenRequest {
  readonly form: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

/** An OpenID provider over real HTTP that a test drives. */
export interface TestIssuer {
  readonly url: string;
  readonly port: number;
  /** How often each path was asked. */
  readonly requestCounts: Record<string, number>;
  readonly tokenRequests: ReceivedTokenRequest[];
  /** What it was asked about tokens, and what it says of each; of others that they are not active. */
  readonly introspections: ReceivedTokenRequest[];
  readonly introspectionResponses: Map<string, Record<string, unknown>>;
  /** What the discovery document says besides, or instead. */
  metadata: Record<string, unknown>;
  /** Status with which a path answers instead of its document. */
  readonly failingPaths: Map<string, number>;
  /** What the token endpoint answers for a code, besides what belongs there. */
  tokenResponse: Record<string, unknown>;
  userinfo: Record<string, unknown> | null;
  /** Claims of the next ID token. */
  idClaims: Record<string, unknown>;
  /** Signs with another key than it publishes. */
  idTokenKey: string;
  /** Publishes exactly these from now on. */
  publish(...kids: string[]): Promise<void>;
  jwk(kid: string): Promise<JWK>;
  sign(
    claims: Record<string, unknown>,
    header?: { kid?: string | null; alg?: string; [name: string]: unknown },
  ): Promise<string>;
  /** What a browser does at the authorization endpoint: the query it is sent back with. */
  authorize(url: string): URLSearchParams;
  close(): Promise<void>;
}

export async function startTestIssuer(now: () => number, alg = 'ES256'): Promise<TestIssuer> {
  const keys = new Map<string, Promise<SigningKey>>();
  const codes = new Map<string, URLSearchParams>();
  let publishedKids: string[] = ['k1'];

  async function makeKey(kid: string): Promise<SigningKey> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
  }

  function findKey(kid: string): Promise<SigningKey> {
    const key = keys.get(kid) ?? makeKey(kid);
    keys.set(kid, key);
    return key;
  }

  async function readRequest(req: IncomingMessage): Promise<ReceivedTokenRequest> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    return { form, authorization: req.headers.authorization };
  }

  async function handleIntrospection(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const request = await readRequest(req);
    issuer.introspections.push(request);
    await sendJson(
      res,
      200,
      issuer.introspectionResponses.get(request.form.token ?? '') ?? { active: false },
    );
  }

  async function handleToken(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const request = await readRequest(req);
    const { form } = request;
    issuer.tokenRequests.push(request);
    const authorizationParams = codes.get(form.code ?? '');
    codes.delete(form.code ?? '');
    const challenge = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url');
    if (
      !authorizationParams ||
      authorizationParams.get('code_challenge') !== challenge ||
      authorizationParams.get('redirect_uri') !== form.redirect_uri
    ) {
      return sendJson(res, 400, { error: 'invalid_grant', error_description: 'words of the provider' });
    }
    const seconds = Math.floor(now() / 1_000);
    const claims = {
      iss: issuer.url,
      aud: authorizationParams.get('client_id'),
      sub: 'ada',
      nonce: authorizationParams.get('nonce'),
    };
    const timeClaims = { iat: seconds, exp: seconds + 300 };
    const idToken = await issuer.sign(
      { ...claims, ...timeClaims, ...issuer.idClaims },
      { kid: issuer.idTokenKey },
    );
    const tokens = { access_token: 'opaque-access', refresh_token: 'refresh-1', id_token: idToken };
    await sendJson(res, 200, { ...tokens, token_type: 'Bearer', expires_in: 600, ...issuer.tokenResponse });
  }

  async function handleRequest(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = new URL(req.url!, 'http://x').pathname;
    issuer.requestCounts[path] = (issuer.requestCounts[path] ?? 0) + 1;
    const failingPaths = issuer.failingPaths.get(path);
    if (failingPaths !== undefined) return sendJson(res, failingPaths, { error: 'server_error' });
    if (path === '/.well-known/openid-configuration') {
      const endpoints = [
        ...['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'],
        'introspection_endpoint',
      ];
      const endpointEntries = endpoints.map((name) => [name, `${issuer.url}/${name.split('_')[0]!}`]);
      return sendJson(res, 200, {
        ...{ issuer: issuer.url, ...Object.fromEntries(endpointEntries) },
        ...{ id_token_signing_alg_values_supported: ['ES256', 'RS256'], response_types_supported: ['code'] },
        ...issuer.metadata,
      });
    }
    if (path === '/jwks') {
      return sendJson(res, 200, { keys: await Promise.all(publishedKids.map((kid) => issuer.jwk(kid))) });
    }
    if (path === '/token') return handleToken(req, res);
    if (path === '/introspection') return handleIntrospection(req, res);
    if (path === '/userinfo' && issuer.userinfo) return sendJson(res, 200, issuer.userinfo);
    await sendJson(res, path === '/userinfo' ? 403 : 404, {});
  }

  const server = createServer((req, res) => void handleRequest(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const issuer: TestIssuer = {
    url: `http://127.0.0.1:${port}`,
    port,
    requestCounts: {},
    tokenRequests: [],
    introspections: [],
    introspectionResponses: new Map(),
    metadata: {},
    failingPaths: new Map(),
    tokenResponse: {},
    userinfo: null,
    idClaims: {},
    idTokenKey: 'k1',
    async publish(...kids) {
      await Promise.all(kids.map(findKey));
      publishedKids = kids;
    },
    jwk: async (kid) => (await findKey(kid)).jwk,
    async sign(claims, { kid = 'k1', ...header } = {}) {
      const { privateKey } = await findKey(kid ?? 'k1');
      return new SignJWT(claims)
        .setProtectedHeader({ alg, ...(kid !== null && { kid }), ...header })
        .sign(privateKey);
    },
    authorize(url) {
      const authorizationParams = new URL(url).searchParams;
      const code = `code-${codes.size + issuer.tokenRequests.length}`;
      codes.set(code, authorizationParams);
      return new URLSearchParams({ code, state: authorizationParams.get('state') ?? '', iss: issuer.url });
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return issuer;
}

async function sendJson(res: ServerResponse, status: number, body: unknown): Promise<void> {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
