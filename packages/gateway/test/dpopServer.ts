import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';

/** One proof as it came, checked: signature, method, address and freshness hold. */
export interface ReceivedProof {
  readonly path: string;
  readonly jkt: string;
  readonly jti: string;
  readonly ath: string | undefined;
  readonly nonce: string | undefined;
  readonly status: number;
}

/**
 * An authorization server and an MCP server's metadata, both of which insist on DPoP (RFC 9449): codes, refresh tokens and access
 * tokens are bound to the key that the first proof showed.
 */
export interface DpopServer {
  readonly origin: string;
  readonly port: number;
  readonly proofs: ReceivedProof[];
  /** Requests to the token endpoint, with the grant and whether they brought a proof. */
  readonly tokenRequests: { readonly grant: string; readonly hasProof: boolean; readonly status: number }[];
  /** Keys that authorization requests named. */
  readonly announcedThumbprints: (string | null)[];
  /** What proofs must repeat; undefined: nothing. Each request that does not is told this one. */
  nonce: string | undefined;
  /** Never content: another one with each refusal. */
  rotatesNonce: boolean;
  metadata: Record<string, unknown>;
  resource: Record<string, unknown>;
  /** What it calls its tokens. */
  tokenType: string;
  lifetimeS: number;
  /** The key that a token is bound to. */
  thumbprintOf(accessToken: string): string | undefined;
  close(): Promise<void>;
}

export async function startDpopServer(): Promise<DpopServer> {
  const codes = new Map<string, string | null>();
  const refreshTokens = new Map<string, string>();
  const accessTokens = new Map<string, string>();

  async function verifyProof(req: IncomingMessage, path: string, accessToken?: string) {
    const { dpop } = req.headers;
    if (typeof dpop !== 'string') return undefined;
    const { payload, protectedHeader } = await jwtVerify(dpop, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: ['ES256'],
    });
    const isForRequest = payload['htm'] === req.method && payload['htu'] === `${server.origin}${path}`;
    const ath =
      accessToken === undefined ? undefined : createHash('sha256').update(accessToken).digest('base64url');
    if (!isForRequest || payload['ath'] !== ath || typeof payload.jti !== 'string')
      throw new Error('The proof does not fit');
    if (protectedHeader.jwk && 'd' in protectedHeader.jwk) throw new Error('The private key was sent');
    const jkt = await calculateJwkThumbprint(protectedHeader.jwk ?? {});
    return {
      jkt,
      jti: payload.jti,
      ath: payload['ath'] as string | undefined,
      nonce: payload['nonce'] as string | undefined,
    };
  }

  async function handleToken(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const grant = form.get('grant_type') ?? '';
    const proof = await verifyProof(req, '/token').catch(() => undefined);
    const sendReply = (status: number, body: object, headers: Record<string, string> = {}) => {
      server.tokenRequests.push({ grant, hasProof: proof !== undefined, status });
      if (proof) server.proofs.push({ path: '/token', ...proof, status });
      sendJson(res, status, body, headers);
    };
    if (!proof) {
      sendReply(400, { error: 'invalid_dpop_proof' });
      return;
    }
    if (server.nonce !== undefined && (server.rotatesNonce || proof.nonce !== server.nonce)) {
      if (server.rotatesNonce) server.nonce = randomUUID();
      sendReply(400, { error: 'use_dpop_nonce' }, { 'dpop-nonce': server.nonce });
      return;
    }
    const presentedToken = form.get(grant === 'refresh_token' ? 'refresh_token' : 'code') ?? '';
    const boundThumbprint =
      grant === 'refresh_token' ? refreshTokens.get(presentedToken) : codes.get(presentedToken);
    const isKnown = grant === 'client_credentials' || boundThumbprint !== undefined;
    codes.delete(presentedToken);
    refreshTokens.delete(presentedToken);
    if (!isKnown || (typeof boundThumbprint === 'string' && boundThumbprint !== proof.jkt)) {
      sendReply(400, { error: 'invalid_grant' });
      return;
    }
    const tokenPair = { access_token: `at-${randomUUID()}`, refresh_token: `rt-${randomUUID()}` };
    accessTokens.set(tokenPair.access_token, proof.jkt);
    refreshTokens.set(tokenPair.refresh_token, proof.jkt);
    const grantedTokens =
      grant === 'client_credentials' ? { access_token: tokenPair.access_token } : tokenPair;
    sendReply(200, { ...grantedTokens, token_type: server.tokenType, expires_in: server.lifetimeS });
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', server.origin);
    if (url.pathname === '/.well-known/oauth-authorization-server') {
      sendJson(res, 200, server.metadata);
      return;
    }
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource')) {
      sendJson(res, 200, server.resource);
      return;
    }
    if (url.pathname === '/authorize') {
      const [code, jkt] = [randomUUID(), url.searchParams.get('dpop_jkt')];
      server.announcedThumbprints.push(jkt);
      codes.set(code, jkt);
      const redirect = new URL(url.searchParams.get('redirect_uri') ?? '');
      redirect.search = new URLSearchParams({ code, state: url.searchParams.get('state') ?? '' }).toString();
      return void res.writeHead(302, { location: redirect.href }).end();
    }
    if (url.pathname === '/token') return handleToken(req, res);
    const challenge = `Bearer resource_metadata="${server.origin}/.well-known/oauth-protected-resource/mcp"`;
    res.writeHead(401, { 'www-authenticate': challenge }).end();
  }

  const http = createServer((req, res) => void handle(req, res).catch(() => res.destroy()));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const origin = `http://localhost:${port}`;
  const server: DpopServer = {
    ...{ origin, port, proofs: [], tokenRequests: [], announcedThumbprints: [] },
    ...{ nonce: undefined, rotatesNonce: false, tokenType: 'DPoP', lifetimeS: 3600 },
    metadata: {
      ...{ issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` },
      ...{
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      },
      dpop_signing_alg_values_supported: ['ES256'],
    },
    resource: {
      ...{ resource: `${origin}/mcp`, authorization_servers: [origin] },
      dpop_bound_access_tokens_required: true,
    },
    thumbprintOf: (accessToken) => accessTokens.get(accessToken),
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  return server;
}

function sendJson(
  res: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
