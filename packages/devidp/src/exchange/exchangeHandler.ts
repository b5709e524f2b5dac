import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type Random, sleep } from '@behalf/kernel';
import { decodeJwt } from 'jose';
import { type DevClient, toProfileClaims } from '../directory.ts';
import { type DevKeyRing, signJwt } from '../signingKeys.ts';
import { satisfiesClaimsRequest } from './claimsRequest.ts';
import { readClaimedClientId } from './clientVerification.ts';
import type { WritableRequestLog } from './requestLog.ts';
import { type ResourceTarget, getResourceAudience } from './resources.ts';
import type { VerifiedSubject } from './subjects.ts';
import type { FaultSwitchBoard } from './switches.ts';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

export const tokenTypes = {
  accessToken: 'urn:ietf:params:oauth:token-type:access_token',
  idToken: 'urn:ietf:params:oauth:token-type:id_token',
  refreshToken: 'urn:ietf:params:oauth:token-type:refresh_token',
  jwt: 'urn:ietf:params:oauth:token-type:jwt',
  idJag: 'urn:ietf:params:oauth:token-type:id-jag',
} as const;

interface DialectRequest {
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** The token to issue. All checks passed; it is not signed yet. */
export interface ExchangeGrant {
  readonly subject: VerifiedSubject;
  readonly client: DevClient;
  readonly target: ResourceTarget;
  /** Additional claims. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Additional response fields. */
  readonly responseFields: Readonly<Record<string, unknown>>;
  /** Set if the result is an assertion for another authorization server instead of an access token. */
  readonly assertion?: { readonly type: string; readonly audience: string; readonly lifetimeSeconds: number };
}

/** An exchange protocol with its own errors. */
export interface Dialect {
  readonly issuer: string;
  /** `typ` of the issued tokens. */
  readonly type: 'JWT' | 'at+jwt';
  /** Throws TokenRefusal. */
  grant(request: DialectRequest): Promise<ExchangeGrant>;
  createThrottle(retryAfterSeconds: number | undefined): TokenRefusal;
  createChallenge(claims: string): TokenRefusal;
}

/** An error response to a token request. */
export class TokenRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    body: Readonly<Record<string, unknown>>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(`The token request is refused: ${String(body.error)}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

interface ExchangeParts {
  keys: DevKeyRing;
  clock: Clock;
  random: Random;
  lifetimeSeconds: number;
  switches: FaultSwitchBoard;
  requestLog: WritableRequestLog;
}

/** Handles an exchange request, unless a fault switch applies. */
export function createExchangeHandler(parts: ExchangeParts) {
  const { keys, clock, random, switches, requestLog } = parts;

  function issueToken({ issuer, type }: Dialect, grant: ExchangeGrant, audience: string) {
    const { subject, client, target, assertion } = grant;
    const now = Math.floor(clock.now() / 1000);
    const expiresIn = assertion?.lifetimeSeconds ?? target.resource.tokenSeconds ?? parts.lifetimeSeconds;
    const { name, preferred_username } = toProfileClaims(subject.user);
    const token = signJwt(keys.getCurrent(), assertion?.type ?? type, {
      ...{ iss: issuer, sub: subject.user.id, aud: audience, azp: client.id, name, preferred_username },
      ...{ iat: now, nbf: now, exp: now + expiresIn, jti: random.id() },
      ...grant.claims,
    });
    return { token, expiresIn };
  }

  async function createResponse(dialect: Dialect, grant: ExchangeGrant): Promise<Record<string, unknown>> {
    const { subject, target } = grant;
    const user = subject.user.id;
    const challenge = switches.consume(
      ['claims'],
      user,
      ({ claims }, since) =>
        !satisfiesClaimsRequest(claims, subject.claims) && Number(subject.claims.iat) * 1000 <= since,
    );
    if (challenge) throw dialect.createChallenge(challenge.claims);
    const fault = switches.consume(['empty-token', 'not-bearer', 'other-audience'], user);
    const regularAudience = grant.assertion?.audience ?? getResourceAudience(target.resource);
    const audience = fault?.kind === 'other-audience' ? fault.audience : regularAudience;
    const { token, expiresIn } = issueToken(dialect, grant, audience);
    return {
      ...grant.responseFields,
      ...{ expires_in: expiresIn, ext_expires_in: expiresIn, access_token: token },
      ...(fault?.kind === 'empty-token' && { access_token: '' }),
      ...(fault?.kind === 'not-bearer' && { token_type: 'N_A' }),
    };
  }

  return async function handle(
    dialect: Dialect,
    form: URLSearchParams,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const request = { form, headers: req.headers };
    const user = readUserId(form);
    const entry = {
      ...{ path: readPath(req), grant: form.get('grant_type') ?? undefined },
      ...{ fields: [...new Set(form.keys())], client: readClaimedClientId(request), user },
      ...{ scope: form.get('scope') ?? undefined, claims: form.get('claims') ?? undefined },
      status: undefined as number | undefined,
    };
    // Added first, so that requests without a response are recorded too.
    requestLog.add(entry);
    const sendJson = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) => {
      entry.status = status;
      const defaultHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' };
      res.writeHead(status, { ...defaultHeaders, ...headers }).end(JSON.stringify(body));
    };

    const delayFault = switches.consume(['slow'], user);
    if (delayFault) await sleep(clock, delayFault.ms);
    const responseFault = switches.consume(['throttle', 'hang', 'close', 'fail', 'empty'], user);
    if (responseFault?.kind === 'hang') return;
    if (responseFault?.kind === 'close') return void req.socket.destroy();
    if (responseFault?.kind === 'fail' || responseFault?.kind === 'empty') {
      sendJson(responseFault.kind === 'fail' ? 500 : 200, {});
      return;
    }
    try {
      if (responseFault) throw dialect.createThrottle(responseFault.retryAfterSeconds);
      const grant = await dialect.grant(request);
      entry.user = grant.subject.user.id;
      sendJson(200, await createResponse(dialect, grant));
    } catch (error) {
      if (!(error instanceof TokenRefusal)) throw error;
      sendJson(error.status, error.body, error.headers);
    }
  };
}

/** The requested path, including a tenant. */
function readPath(req: IncomingMessage & { originalUrl?: string }): string {
  return (req.originalUrl ?? req.url ?? '').split('?')[0] ?? '';
}

/** The unverified subject, for fault switches and the request log. */
function readUserId(form: URLSearchParams): string | undefined {
  try {
    return decodeJwt(form.get('assertion') ?? form.get('subject_token') ?? '').sub;
  } catch {
    return undefined;
  }
}
