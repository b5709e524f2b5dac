import type { IncomingHttpHeaders } from 'node:http';
import type { DevClient } from '../clients.ts';
import type { TokenRefusal } from './refusal.ts';
import type { ResourceTarget } from './resources.ts';
import type { VerifiedSubject } from './subjectVerifier.ts';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

export const tokenTypes = {
  accessToken: 'urn:ietf:params:oauth:token-type:access_token',
  idToken: 'urn:ietf:params:oauth:token-type:id_token',
  refreshToken: 'urn:ietf:params:oauth:token-type:refresh_token',
  jwt: 'urn:ietf:params:oauth:token-type:jwt',
  idJag: 'urn:ietf:params:oauth:token-type:id-jag',
} as const;

export interface DialectRequest {
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** What is about to be given: everything was checked, nothing is signed yet. */
export interface ExchangeGrant {
  readonly subject: VerifiedSubject;
  readonly client: DevClient;
  readonly target: ResourceTarget;
  /** Beside who, for whom and how long. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Beside `access_token` and `expires_in`. */
  readonly responseFields: Readonly<Record<string, unknown>>;
  /** What is signed is no access token for the target, but an assertion for somebody else. */
  readonly assertion?: { readonly type: string; readonly audience: string; readonly lifetimeSeconds: number };
}

/** One way to exchange, with its own words for what goes wrong. */
export interface Dialect {
  readonly issuer: string;
  /** `typ` of what it issues. */
  readonly type: 'JWT' | 'at+jwt';
  /** Throws Refusal. */
  grant(request: DialectRequest): Promise<ExchangeGrant>;
  createThrottle(retryAfterSeconds: number | undefined): TokenRefusal;
  createChallenge(claims: string): TokenRefusal;
}
