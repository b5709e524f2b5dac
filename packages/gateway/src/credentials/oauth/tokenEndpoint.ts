import type { Clock } from '@behalf/kernel';
import { readRetryAfter } from '../../upstream/http/errors.ts';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import { normalizeClaims } from './claims.ts';
import {
  type HttpResponse,
  type JsonBody,
  MAX_TOKEN_LENGTH,
  type TokenRequest,
  interactionErrors,
  isTokenText,
  parseResponseBody,
  parseSeconds,
  readErrorCode,
  sendTokenRequest,
  temporaryErrors,
} from './tokenRequest.ts';

/** Tokens as the authorization server issued them. */
export interface TokenSet {
  readonly accessToken: string;
  readonly tokenType: 'bearer' | 'dpop';
  readonly refreshToken?: string | undefined;
  /** The response contains a refresh token that cannot be sent. The previous refresh token may be invalid all the same. */
  readonly isRefreshTokenUnusable?: boolean;
  readonly idToken?: string | undefined;
  /** Null: the response does not say. 0 or less: already expired. */
  readonly expiresInS: number | null;
  /** Granted scopes. Undefined if the response does not say. */
  readonly scope?: string | undefined;
}

/** The outcome of a request to a token endpoint. Depends only on the status and the OAuth error code. */
export type TokenEndpointResult =
  | { readonly kind: 'tokens'; readonly tokens: TokenSet; readonly sentAt: number }
  /** `invalid_grant`: the code or refresh token is no longer valid. */
  | { readonly kind: 'rejected'; readonly error: string }
  /** `invalid_client`, `unauthorized_client`. */
  | { readonly kind: 'client_refused'; readonly error: string }
  /** `invalid_scope`, `invalid_target`, `unsupported_grant_type`, `invalid_request`, or a configuration error of the gateway. */
  | { readonly kind: 'misconfigured'; readonly error: string }
  /** `interaction_required` and similar errors. `claims` is JSON text. */
  | { readonly kind: 'user_needed'; readonly error: string; readonly claims?: string | undefined }
  /** The server consumed nothing: the request was not sent, or the server asked to retry later. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs?: number | undefined }
  /** The request was sent and has no usable response: the server may have consumed the code or refresh token. */
  | { readonly kind: 'in_doubt'; readonly status?: number | undefined }
  /** 404 or 405. */
  | { readonly kind: 'moved'; readonly status: number }
  /** Another status without a known OAuth error. Must not invalidate the grant. */
  | { readonly kind: 'unintelligible'; readonly status: number };

export interface OAuthTokenRequest extends TokenRequest {
  readonly issuer: string;
  readonly readError: ReadNetworkError;
}

/** Requests tokens for a code, a refresh token or the gateway itself. Never rejects. */
export async function requestTokens(request: OAuthTokenRequest): Promise<TokenEndpointResult> {
  const outcome = await sendTokenRequest(request);
  switch (outcome.kind) {
    case 'response':
      return parseTokenResponse(outcome.response, request.clock);
    case 'not_sent':
      return { kind: 'unavailable' };
    case 'client_key_unusable':
      return { kind: 'misconfigured', error: 'client_key_unusable' };
    case 'failed':
      return classifyFailure(outcome.error, request.readError);
  }
}

/** A request counts as unsent only if the egress reports that. */
function classifyFailure(error: unknown, readError: ReadNetworkError): TokenEndpointResult {
  const networkError = readError(error);
  if (networkError?.requestSent !== false) return { kind: 'in_doubt' };
  return networkError.code === 'MCP_DOMAIN_NOT_ALLOWED'
    ? { kind: 'misconfigured', error: 'endpoint_not_allowed' }
    : { kind: 'unavailable' };
}

/** RFC 6749, appendix A.17. A refresh token is sent in a form, so spaces are allowed and its length is not limited. */
const REFRESH_TOKEN_PATTERN = /^[\x20-\x7e]+$/;
const MAX_LIFETIME_S = 10 * 365 * 24 * 60 * 60;
const MAX_RETRY_AFTER_MS = 60_000;
/** After a 429 without `Retry-After`. */
const DEFAULT_RETRY_AFTER_MS = 2_000;

const CLIENT_ERRORS = new Set(['invalid_client', 'unauthorized_client']);
const CONFIGURATION_ERRORS = new Set([
  'invalid_scope',
  'invalid_target',
  'unsupported_grant_type',
  'invalid_request',
  'invalid_dpop_proof',
  'use_dpop_nonce',
]);

function parseTokenResponse(response: HttpResponse, clock: Clock): TokenEndpointResult {
  const { status, sentAt } = response;
  if (response.text === undefined) return { kind: 'in_doubt' };
  const retryAfterMs = readRetryAfter(response.header('retry-after'), clock, MAX_RETRY_AFTER_MS);
  if (status === 429) return { kind: 'unavailable', retryAfterMs: retryAfterMs ?? DEFAULT_RETRY_AFTER_MS };
  if (status === 503 && retryAfterMs !== undefined) return { kind: 'unavailable', retryAfterMs };
  // A failing server may have consumed the grant before it failed, whatever its body says.
  if (status >= 500) return { kind: 'in_doubt', status };
  const body = parseResponseBody(response);
  // Some servers send every response with status 200.
  if (body?.['error'] !== undefined) return classifyError(body, status);
  if (status === 200) {
    const tokens = body && parseTokens(body);
    return tokens ? { kind: 'tokens', tokens, sentAt } : { kind: 'in_doubt', status };
  }
  if (status === 404 || status === 405) return { kind: 'moved', status };
  return status < 300 ? { kind: 'in_doubt', status } : { kind: 'unintelligible', status };
}

function classifyError(body: JsonBody, status: number): TokenEndpointResult {
  const error = readErrorCode(body['error']);
  const suberror = readErrorCode(body['suberror']);
  const claims = typeof body['claims'] === 'string' ? normalizeClaims(body['claims']) : undefined;
  if (error === undefined) return { kind: 'unintelligible', status };
  // Entra sends `invalid_grant` here too. The suberror or the claims show that the refresh token is still valid.
  const requiresUser =
    interactionErrors.has(error) ||
    (suberror !== undefined && interactionErrors.has(suberror)) ||
    claims !== undefined;
  if (requiresUser) return { kind: 'user_needed', error, claims };
  if (error === 'invalid_grant') return { kind: 'rejected', error };
  if (CLIENT_ERRORS.has(error)) return { kind: 'client_refused', error };
  if (CONFIGURATION_ERRORS.has(error)) return { kind: 'misconfigured', error };
  if (temporaryErrors.has(error)) return { kind: 'unavailable', retryAfterMs: DEFAULT_RETRY_AFTER_MS };
  return { kind: 'unintelligible', status };
}

function parseTokens(body: JsonBody): TokenSet | undefined {
  const accessToken = parseToken(body['access_token']);
  const tokenType = parseTokenType(body['token_type']);
  if (accessToken === undefined || tokenType === undefined) return undefined;
  const { scope } = body;
  const seconds = parseSeconds(body['expires_in']);
  return {
    accessToken,
    tokenType,
    ...parseRefreshToken(body['refresh_token']),
    idToken: parseToken(body['id_token']),
    expiresInS: seconds === undefined ? null : Math.min(seconds, MAX_LIFETIME_S),
    scope: typeof scope === 'string' && scope.trim() !== '' ? scope : undefined,
  };
}

/** Some servers omit the type and mean `Bearer`. The gateway cannot present any other type. */
function parseTokenType(value: unknown): TokenSet['tokenType'] | undefined {
  if (value === undefined || value === null) return 'bearer';
  const type = typeof value === 'string' ? value.toLowerCase() : '';
  return type === 'bearer' || type === 'dpop' ? type : undefined;
}

function parseToken(value: unknown): string | undefined {
  return isTokenText(value) && value.length <= MAX_TOKEN_LENGTH ? value : undefined;
}

/** A new refresh token replaces the previous one even if it is unusable. */
function parseRefreshToken(value: unknown): Pick<TokenSet, 'refreshToken' | 'isRefreshTokenUnusable'> {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value === 'string' && REFRESH_TOKEN_PATTERN.test(value)) return { refreshToken: value };
  return { isRefreshTokenUnusable: true };
}
