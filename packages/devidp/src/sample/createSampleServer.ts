import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type Random, systemClock, systemRandom } from '@behalf/kernel';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { type JSONWebKeySet, type JWTPayload, createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { assertDevelopment } from '../assertDevelopment.ts';
import type { DevAuthority } from '../devAuthority.ts';
import { satisfiesClaimsRequest } from '../exchange/claimsRequest.ts';
import { closeListener, createListener, startListening } from '../listener.ts';
import { createSampleSessions } from './sampleSessions.ts';

export interface SampleServerOptions {
  /** True if NODE_ENV is `production`: the start fails. */
  isProduction: boolean;
  /** The trusted issuer: a `DevIdp`. */
  idp: IssuerKeySource;
  /** The required `aud`. */
  audience: string;
  /** Scopes that a token must contain. */
  scopes?: readonly string[];
  name?: string;
  /** 0 or absent selects a free port. */
  port?: number;
  /** A loopback address. */
  host?: string;
  https?: { ca: DevAuthority };
  clock?: Clock;
  random?: Random;
  onError?: (error: unknown) => void;
}

/** An MCP server that requires a token for itself and records the tokens it receives. For tests and demos. */
export interface SampleServer {
  readonly url: string;
  readonly origin: string;
  /** All received `Authorization` headers, valid or not. */
  readonly credentials: CredentialLog;
  /** The number of executed tool calls. */
  readonly callCount: number;
  readonly sessionCount: number;
  /** The number of open GET streams. */
  readonly streamCount: number;
  /** Rejects the next valid tokens; all if `times` is absent. */
  rejectTokens(times?: number): void;
  /**
   * Requires additional claims (`insufficient_claims`), as the JSON of a claims request; undefined removes the
   * requirement.
   */
  requireClaims(challenge: string | undefined): void;
  /** Undoes the previous two. */
  acceptTokens(): void;
  /** Drops all sessions, like a restart. */
  dropSessions(): Promise<void>;
  /** Notifies all sessions that the tool list changed. */
  notifyToolsChanged(): Promise<void>;
  close(): Promise<void>;
}

const METADATA_PATH = '/.well-known/oauth-protected-resource';
const MCP_PATH = '/mcp';

export async function createSampleServer(options: SampleServerOptions): Promise<SampleServer> {
  const { isProduction, idp, audience, scopes = [], name = 'sample', port = 0, host = '127.0.0.1' } = options;
  assertDevelopment({ isProduction, host });
  const { clock = systemClock, random = systemRandom, onError = () => undefined } = options;
  const state: GuardState = { remainingRejections: 0, requiredClaims: undefined };
  const guard = createTokenGuard({ idp, audience, scopes, clock }, state);
  const credentials = createCredentialLog();
  const sessions = createSampleSessions({ name, random });

  const server = createListener(await options.https?.ca.issue());
  const { origin, host: authority, port: listeningPort } = await startListening(server, port, host);
  const hosts = [authority, `localhost:${listeningPort}`];
  const metadata = `resource_metadata="${origin}${METADATA_PATH}${MCP_PATH}"`;

  async function handle(req: IncomingMessage & { auth?: AuthInfo }, res: ServerResponse): Promise<void> {
    const path = req.url?.split('?')[0];
    if (!hosts.includes(req.headers.host ?? '')) return void res.writeHead(421).end();
    if (path === METADATA_PATH || path === METADATA_PATH + MCP_PATH) {
      const resourceMetadata = {
        resource: origin + MCP_PATH,
        authorization_servers: idp.issuers,
        scopes_supported: scopes,
      };
      const body = JSON.stringify({ ...resourceMetadata, bearer_methods_supported: ['header'] });
      return void res.writeHead(200, { 'content-type': 'application/json' }).end(body);
    }
    if (path !== MCP_PATH) return void res.writeHead(404).end();
    const credential = credentials.add(req.headers.authorization, req.method ?? '');
    const result = await guard(req.headers.authorization);
    if ('status' in result) {
      const challenge = [result.challenge, metadata].filter((part) => part !== '').join(', ');
      return void res.writeHead(result.status, { 'www-authenticate': `Bearer ${challenge}` }).end();
    }
    credential.acceptedCount += 1;
    req.auth = result.auth;
    await sessions.handle(req, res, String(result.auth.extra?.sub));
  }
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    handle(req, res).catch((error: unknown) => {
      onError(error);
      if (!res.headersSent) res.writeHead(500);
      res.end();
    });
  });

  return {
    ...{ url: origin + MCP_PATH, origin, credentials: credentials.log },
    get callCount() {
      return sessions.calls();
    },
    get sessionCount() {
      return sessions.count();
    },
    get streamCount() {
      return sessions.streams();
    },
    rejectTokens: (times = Infinity) => void (state.remainingRejections = times),
    requireClaims: (challenge) => void (state.requiredClaims = challenge),
    acceptTokens() {
      state.remainingRejections = 0;
      state.requiredClaims = undefined;
    },
    dropSessions: () => sessions.closeAll(),
    notifyToolsChanged: () => sessions.notifyToolsChanged(),
    async close() {
      await sessions.closeAll();
      await closeListener(server);
    },
  };
}

/** The issuer whose tokens a server accepts. */
export interface IssuerKeySource {
  /** Accepted `iss` values. */
  readonly issuers: readonly string[];
  getPublicKeys(): JSONWebKeySet;
}

interface TokenGuardParts {
  idp: IssuerKeySource;
  /** The required `aud`. */
  audience: string;
  /** Scopes that a token must contain. */
  scopes: readonly string[];
  clock: Clock;
}

/** Additional behavior set by a test. */
interface GuardState {
  /** How many more valid tokens are rejected. */
  remainingRejections: number;
  /** Additionally required claims, as the JSON of a claims request. */
  requiredClaims: string | undefined;
}

/** `auth`: accepted. Otherwise the status and the `WWW-Authenticate` challenge without the metadata URL. */
type GuardResult = { readonly auth: AuthInfo } | { readonly status: 401 | 403; readonly challenge: string };

/** Verifies signature, issuer, audience and time, then scopes and additional claims. */
function createTokenGuard({ idp, audience, scopes, clock }: TokenGuardParts, state: GuardState) {
  return async (header: string | undefined): Promise<GuardResult> => {
    const [, token] = /^Bearer ([^\s,]+)$/i.exec(header ?? '') ?? [];
    if (token === undefined) return { status: 401, challenge: '' };
    if (state.remainingRejections > 0) {
      state.remainingRejections -= 1;
      return createInvalidTokenResult('rejected by the test');
    }
    let claims: JWTPayload;
    try {
      const { payload } = await jwtVerify(token, createLocalJWKSet(idp.getPublicKeys()), {
        issuer: [...idp.issuers],
        audience,
        algorithms: ['RS256'],
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(clock.now()),
      });
      claims = payload;
    } catch {
      return createInvalidTokenResult('the token is not valid');
    }
    if (state.requiredClaims !== undefined && !satisfiesClaimsRequest(state.requiredClaims, claims)) {
      const encoded = Buffer.from(state.requiredClaims).toString('base64');
      return { status: 401, challenge: `error="insufficient_claims", claims="${encoded}"` };
    }
    const tokenScopes = readScopes(claims);
    if (!scopes.every((scope) => tokenScopes.includes(scope))) {
      return { status: 403, challenge: `error="insufficient_scope", scope="${scopes.join(' ')}"` };
    }
    const clientId = typeof claims.azp === 'string' ? claims.azp : '';
    return { auth: { token, clientId, scopes: tokenScopes, expiresAt: claims.exp ?? 0, extra: claims } };
  };
}

/** `scp` of Entra, or `scope` of RFC 9068. */
function readScopes({ scp, scope }: JWTPayload): string[] {
  const text = typeof scp === 'string' ? scp : typeof scope === 'string' ? scope : '';
  return text.split(' ').filter((name) => name !== '');
}

function createInvalidTokenResult(description: string): GuardResult {
  return { status: 401, challenge: `error="invalid_token", error_description="${description}"` };
}

/** A received `Authorization` header. */
export interface RecordedCredential {
  /** SHA-256 of the header as base64url; empty without a header. */
  readonly hash: string;
  /** The token's `sub`, not verified. */
  readonly subject: string | undefined;
  readonly audience: string | readonly string[] | undefined;
  useCount: number;
  acceptedCount: number;
  /** Number of requests by HTTP method. */
  readonly methods: Record<string, number>;
}

/** Records received credentials as hashes. */
export interface CredentialLog {
  all(): readonly RecordedCredential[];
  /** Finds the record of a token. */
  find(token: string): RecordedCredential | undefined;
  clear(): void;
}

/** Limits memory. The oldest entries are dropped. */
const MAX_ENTRIES = 20_000;

export function hashHeader(header: string | undefined): string {
  return header === undefined ? '' : createHash('sha256').update(header).digest('base64url');
}

function createCredentialLog() {
  const credentials = new Map<string, RecordedCredential>();
  const log: CredentialLog = {
    all: () => [...credentials.values()],
    find: (token) => credentials.get(hashHeader(`Bearer ${token}`)),
    clear: () => credentials.clear(),
  };
  return {
    log,
    add(header: string | undefined, method: string): RecordedCredential {
      const hash = hashHeader(header);
      const { sub, aud } = readClaims(header);
      const entry = credentials.get(hash) ?? {
        ...{ hash, subject: sub, audience: aud, useCount: 0, acceptedCount: 0, methods: {} },
      };
      credentials.set(hash, entry);
      entry.useCount += 1;
      entry.methods[method] = (entry.methods[method] ?? 0) + 1;
      for (const oldest of credentials.keys()) {
        if (credentials.size <= MAX_ENTRIES) break;
        credentials.delete(oldest);
      }
      return entry;
    },
  };
}

function readClaims(header: string | undefined): { sub?: string; aud?: string | string[] } {
  try {
    return decodeJwt(header?.replace(/^Bearer /i, '') ?? '');
  } catch {
    return {};
  }
}
