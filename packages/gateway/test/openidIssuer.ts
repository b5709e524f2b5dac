import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';

interface Key {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export interface TokenRequest {
  readonly form: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

/** An OpenID provider over real HTTP that a test drives. */
export interface TestIssuer {
  readonly url: string;
  readonly port: number;
  /** How often each path was asked. */
  readonly hits: Record<string, number>;
  readonly tokenRequests: TokenRequest[];
  /** What it was asked about tokens, and what it says of each; of others that they are not active. */
  readonly introspections: TokenRequest[];
  readonly introspected: Map<string, Record<string, unknown>>;
  /** What the discovery document says besides, or instead. */
  metadata: Record<string, unknown>;
  /** Status with which a path answers instead of its document. */
  readonly broken: Map<string, number>;
  /** What the token endpoint answers for a code, besides what belongs there. */
  tokenAnswer: Record<string, unknown>;
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

export async function startIssuer(now: () => number, alg = 'ES256'): Promise<TestIssuer> {
  const keys = new Map<string, Promise<Key>>();
  const codes = new Map<string, URLSearchParams>();
  let published: string[] = ['k1'];

  async function makeKey(kid: string): Promise<Key> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
  }

  function keyOf(kid: string): Promise<Key> {
    const key = keys.get(kid) ?? makeKey(kid);
    keys.set(kid, key);
    return key;
  }

  async function requestOf(req: IncomingMessage): Promise<TokenRequest> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    return { form, authorization: req.headers.authorization };
  }

  async function answerIntrospection(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const request = await requestOf(req);
    issuer.introspections.push(request);
    await json(res, 200, issuer.introspected.get(request.form.token ?? '') ?? { active: false });
  }

  async function answerToken(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const request = await requestOf(req);
    const { form } = request;
    issuer.tokenRequests.push(request);
    const asked = codes.get(form.code ?? '');
    codes.delete(form.code ?? '');
    const challenge = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url');
    if (
      !asked ||
      asked.get('code_challenge') !== challenge ||
      asked.get('redirect_uri') !== form.redirect_uri
    ) {
      return json(res, 400, { error: 'invalid_grant', error_description: 'words of the provider' });
    }
    const seconds = Math.floor(now() / 1_000);
    const claims = { iss: issuer.url, aud: asked.get('client_id'), sub: 'ada', nonce: asked.get('nonce') };
    const times = { iat: seconds, exp: seconds + 300 };
    const idToken = await issuer.sign(
      { ...claims, ...times, ...issuer.idClaims },
      { kid: issuer.idTokenKey },
    );
    const tokens = { access_token: 'opaque-access', refresh_token: 'refresh-1', id_token: idToken };
    await json(res, 200, { ...tokens, token_type: 'Bearer', expires_in: 600, ...issuer.tokenAnswer });
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = new URL(req.url!, 'http://x').pathname;
    issuer.hits[path] = (issuer.hits[path] ?? 0) + 1;
    const broken = issuer.broken.get(path);
    if (broken !== undefined) return json(res, broken, { error: 'server_error' });
    if (path === '/.well-known/openid-configuration') {
      const endpoints = [
        ...['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'],
        'introspection_endpoint',
      ];
      const named = endpoints.map((name) => [name, `${issuer.url}/${name.split('_')[0]!}`]);
      return json(res, 200, {
        ...{ issuer: issuer.url, ...Object.fromEntries(named) },
        ...{ id_token_signing_alg_values_supported: ['ES256', 'RS256'], response_types_supported: ['code'] },
        ...issuer.metadata,
      });
    }
    if (path === '/jwks') {
      return json(res, 200, { keys: await Promise.all(published.map((kid) => issuer.jwk(kid))) });
    }
    if (path === '/token') return answerToken(req, res);
    if (path === '/introspection') return answerIntrospection(req, res);
    if (path === '/userinfo' && issuer.userinfo) return json(res, 200, issuer.userinfo);
    await json(res, path === '/userinfo' ? 403 : 404, {});
  }

  const server = createServer((req, res) => void answer(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const issuer: TestIssuer = {
    url: `http://127.0.0.1:${port}`,
    port,
    hits: {},
    tokenRequests: [],
    introspections: [],
    introspected: new Map(),
    metadata: {},
    broken: new Map(),
    tokenAnswer: {},
    userinfo: null,
    idClaims: {},
    idTokenKey: 'k1',
    async publish(...kids) {
      await Promise.all(kids.map(keyOf));
      published = kids;
    },
    jwk: async (kid) => (await keyOf(kid)).jwk,
    async sign(claims, { kid = 'k1', ...header } = {}) {
      const { privateKey } = await keyOf(kid ?? 'k1');
      return new SignJWT(claims)
        .setProtectedHeader({ alg, ...(kid !== null && { kid }), ...header })
        .sign(privateKey);
    },
    authorize(url) {
      const asked = new URL(url).searchParams;
      const code = `code-${codes.size + issuer.tokenRequests.length}`;
      codes.set(code, asked);
      return new URLSearchParams({ code, state: asked.get('state') ?? '', iss: issuer.url });
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return issuer;
}

async function json(res: ServerResponse, status: number, body: unknown): Promise<void> {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
