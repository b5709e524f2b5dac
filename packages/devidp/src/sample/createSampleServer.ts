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
  /** True where NODE_ENV says so: nothing starts then. */
  isProduction: boolean;
  /** Whose tokens it takes: a `DevIdp`. */
  idp: IssuerKeySource;
  /** `aud` of the tokens for it. */
  audience: string;
  /** Each must be in the token. */
  scopes?: readonly string[];
  name?: string;
  /** 0 or absent: any free one. */
  port?: number;
  /** A loopback address. */
  host?: string;
  https?: { ca: DevAuthority };
  clock?: Clock;
  random?: Random;
  onError?: (error: unknown) => void;
}

/** An MCP server that wants a token for itself and says whose it saw. For tests and demos. */
export interface SampleServer {
  readonly url: string;
  readonly origin: string;
  /** Every `Authorization` that came, good or bad. */
  readonly credentials: CredentialLog;
  /** Tool calls that ran. */
  readonly callCount: number;
  readonly sessionCount: number;
  /** GET streams that are open. */
  readonly streamCount: number;
  /** Refuses the next tokens, good as they are; all of them if nothing is said. */
  rejectTokens(times?: number): void;
  /** Wants more of a token than it has (`insufficient_claims`); undefined ends it. JSON of a challenge. */
  requireClaims(challenge: string | undefined): void;
  /** As before the last two. */
  acceptTokens(): void;
  /** Forgets every session, as a restart does. */
  dropSessions(): Promise<void>;
  /** Tells every session that the list of tools changed. */
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

/** Whose tokens a server takes. */
export interface IssuerKeySource {
  /** `iss` of them. */
  readonly issuers: readonly string[];
  getPublicKeys(): JSONWebKeySet;
}

interface TokenGuardParts {
  idp: IssuerKeySource;
  /** `aud` of the tokens for this server. */
  audience: string;
  /** Each must be in the token. */
  scopes: readonly string[];
  clock: Clock;
}

/** What the server was told to do besides checking. */
interface GuardState {
  /** How many more tokens are refused, good as they are. */
  remainingRejections: number;
  /** What a token must say on top: JSON of a challenge. */
  requiredClaims: string | undefined;
}

/** `auth`: come in. Else the status and what `WWW-Authenticate` says, without the address of the metadata. */
type GuardResult = { readonly auth: AuthInfo } | { readonly status: 401 | 403; readonly challenge: string };

/** Signature, issuer, audience and time of a token; then its scopes and what is demanded on top. */
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

/** `scp` as Entra says it, `scope` as RFC 9068 does. */
function readScopes({ scp, scope }: JWTPayload): string[] {
  const text = typeof scp === 'string' ? scp : typeof scope === 'string' ? scope : '';
  return text.split(' ').filter((name) => name !== '');
}

function createInvalidTokenResult(description: string): GuardResult {
  return { status: 401, challenge: `error="invalid_token", error_description="${description}"` };
}

/** One value of `Authorization` that was seen. */
export interface RecordedCredential {
  /** SHA-256 of the header as it came, base64url; empty: there was none. */
  readonly hash: string;
  /** What the token says of itself, whether or not it holds. */
  readonly subject: string | undefined;
  readonly audience: string | readonly string[] | undefined;
  useCount: number;
  acceptedCount: number;
  /** How often with each HTTP method. */
  readonly methods: Record<string, number>;
}

/** Everything that was shown at the door, without keeping any of it. */
export interface CredentialLog {
  all(): readonly RecordedCredential[];
  /** Which one is meant by a token, for a test that has it. */
  find(token: string): RecordedCredential | undefined;
  clear(): void;
}

/** Older ones are forgotten. */
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
