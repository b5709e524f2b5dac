import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type Random, systemClock, systemRandom } from '@behalf/kernel';
import { type JSONWebKeySet, type JWTPayload, createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { assertDevelopment } from '../assertDevelopment.ts';
import type { DevAuthority } from '../devAuthority.ts';
import type { DevClient } from '../directory.ts';
import { readClaimedClientId, verifyClient } from '../exchange/clientVerification.ts';
import { JWT_BEARER } from '../exchange/exchangeHandler.ts';
import { closeListener, collectBody, createListener, startListening } from '../listener.ts';
import { createDevKeyRing, signJwt } from '../signingKeys.ts';
import type { IssuerKeySource } from './createSampleServer.ts';

export interface ResourceAsOptions {
  /** True if NODE_ENV is `production`: the start fails. */
  isProduction: boolean;
  /** The issuer of accepted identity assertions: a `DevIdp`. */
  idp: IssuerKeySource;
  clients: readonly Pick<DevClient, 'id' | 'secret' | 'certificates'>[];
  /** 0 or absent selects a free port. */
  port?: number;
  /** A loopback address. */
  host?: string;
  https?: { ca: DevAuthority };
  tokenSeconds?: number;
  clock?: Clock;
  random?: Random;
}

/** A recorded request to the token endpoint. Contains identifying form values only. */
export interface RecordedGrant {
  readonly fields: readonly string[];
  readonly client: string | undefined;
  readonly user: string | undefined;
  /** `jti` of the assertion, not verified. */
  readonly jti: string | undefined;
  status: number;
}

/**
 * The authorization server of a third-party MCP server that trusts the company's identity provider. For tests and
 * demos.
 */
export interface ResourceAs extends IssuerKeySource {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly requests: readonly RecordedGrant[];
  /** Processes the next requests, then closes their connections without a response. */
  dropResponses(times: number): void;
  close(): Promise<void>;
}

const METADATA_PATH = '/.well-known/oauth-authorization-server';
const TOKEN_PATH = '/token';

export async function createResourceAs(options: ResourceAsOptions): Promise<ResourceAs> {
  const { isProduction, idp, clients, port = 0, host = '127.0.0.1', tokenSeconds = 3600 } = options;
  assertDevelopment({ isProduction, host });
  const { clock = systemClock, random = systemRandom } = options;
  const keys = await createDevKeyRing(random);
  const server = createListener(await options.https?.ca.issue());
  const { origin: issuer, host: authority } = await startListening(server, port, host);
  const tokenEndpoint = issuer + TOKEN_PATH;
  const verifyAssertion = createAssertionVerifier({ idp, issuer, clock });
  const requests: RecordedGrant[] = [];
  let remainingDrops = 0;

  async function grant(form: URLSearchParams, headers: IncomingMessage['headers']) {
    const verificationParts = {
      clients,
      clock,
      audiences: { token_endpoint: tokenEndpoint, issuer },
      requiresThumbprint: false,
    };
    const client = await verifyClient({ form, headers }, verificationParts);
    if (typeof client === 'string') return { status: 401, body: { error: 'invalid_client' } };
    if (form.get('grant_type') !== JWT_BEARER)
      return { status: 400, body: { error: 'unsupported_grant_type' } };
    const assertion = await verifyAssertion(form.get('assertion') ?? '', client.id);
    if (!assertion) return { status: 400, body: { error: 'invalid_grant' } };
    const now = Math.floor(clock.now() / 1000);
    const { subject: sub, resource: aud, scope } = assertion;
    const access_token = signJwt(keys.getCurrent(), 'at+jwt', {
      ...{ iss: issuer, sub, aud, scope, azp: client.id, client_id: client.id },
      ...{ iat: now, exp: now + tokenSeconds, jti: random.id() },
    });
    return { status: 200, body: { access_token, token_type: 'Bearer', expires_in: tokenSeconds, scope } };
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url?.split('?')[0];
    if (req.headers.host !== authority) return void res.writeHead(421).end();
    if (path === METADATA_PATH) {
      sendJson(res, 200, metadata());
      return;
    }
    if (path !== TOKEN_PATH || req.method !== 'POST') return void res.writeHead(404).end();
    const form = new URLSearchParams(String(await collectBody(req)));
    const { sub, jti } = decodeUnverifiedClaims(form.get('assertion'));
    const entry: RecordedGrant = {
      ...{ fields: [...new Set(form.keys())], client: readClaimedClientId({ form, headers: req.headers }) },
      ...{ user: sub, jti, status: 0 },
    };
    requests.push(entry);
    const { status, body } = await grant(form, req.headers);
    entry.status = status;
    if (remainingDrops > 0) {
      remainingDrops -= 1;
      return void req.socket.destroy();
    }
    sendJson(res, status, body);
  }

  const metadata = () => ({
    ...{ issuer, token_endpoint: tokenEndpoint, grant_types_supported: [JWT_BEARER] },
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
  });
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    handle(req, res).catch(() => res.destroy());
  });

  return {
    ...{ issuer, tokenEndpoint, issuers: [issuer], requests },
    getPublicKeys: (): JSONWebKeySet => ({
      keys: keys.listPublished().map(({ kid, publicKey }) => ({
        ...(publicKey.export({ format: 'jwk' }) as { kty: string }),
        ...{ kid, alg: 'RS256', use: 'sig' },
      })),
    }),
    dropResponses: (times) => void (remainingDrops = times),
    close: () => closeListener(server),
  };
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  res.writeHead(status, headers).end(JSON.stringify(body));
}

function decodeUnverifiedClaims(assertion: string | null): { sub?: string; jti?: string } {
  try {
    return decodeJwt(assertion ?? '');
  } catch {
    return {};
  }
}

interface AssertionParts {
  /** The trusted issuer. */
  idp: IssuerKeySource;
  /** The required `aud`. */
  issuer: string;
  clock: Clock;
}

/** A verified identity assertion. */
interface ProvenAssertion {
  readonly subject: string;
  readonly resource: string;
  readonly scope: string;
}

/** Verifies identity assertions (ID-JAG). Each is accepted once. */
function createAssertionVerifier({ idp, issuer, clock }: AssertionParts) {
  /** `jti` of used assertions until they expire. */
  const usedIds = new Map<string, number>();

  function isUsed({ jti = '', exp = 0 }: JWTPayload): boolean {
    const now = clock.now() / 1000;
    for (const [id, expiresAt] of usedIds) if (expiresAt < now) usedIds.delete(id);
    if (jti === '' || usedIds.has(jti)) return true;
    usedIds.set(jti, exp);
    return false;
  }

  /** Undefined if the assertion is invalid, for another audience, or already used. */
  return async (assertion: string, clientId: string): Promise<ProvenAssertion | undefined> => {
    try {
      const { payload } = await jwtVerify(assertion, createLocalJWKSet(idp.getPublicKeys()), {
        ...{ typ: 'oauth-id-jag+jwt', audience: issuer, issuer: [...idp.issuers], algorithms: ['RS256'] },
        requiredClaims: ['sub', 'exp', 'jti', 'client_id', 'resource'],
        currentDate: new Date(clock.now()),
      });
      if (payload.client_id !== clientId || typeof payload.resource !== 'string' || isUsed(payload)) {
        return undefined;
      }
      return { subject: payload.sub ?? '', resource: payload.resource, scope: text(payload.scope) };
    } catch {
      return undefined;
    }
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
