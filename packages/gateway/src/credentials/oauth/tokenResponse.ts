import type { Clock } from '@behalf/kernel';
import { readRetryAfter } from '../../upstream/http/classifyStatus.ts';
import { normalizeClaims } from '../obo/claimsChallenge.ts';
import type { TokenEndpointResult, TokenSet } from './tokenEndpointResult.ts';
import type { FormResponse } from './postForm.ts';

type Body = Readonly<Record<string, unknown>>;

/** RFC 6749, section 5.2, and what extensions add. A word with anything else in it is no code. */
const ERROR_CODE_PATTERN = /^[A-Za-z0-9_.-]{1,64}$/;
/** What can stand in a header and cannot end it. */
const TOKEN_PATTERN = /^[\x21-\x7e]+$/;
const MAX_TOKEN_LENGTH = 32 * 1_024;
/** RFC 6749, appendix A.17: it goes into a form and never into a header, so blanks are fine, and its length is its maker's. */
const REFRESH_TOKEN_PATTERN = /^[\x20-\x7e]+$/;
const MAX_LIFETIME_S = 10 * 365 * 24 * 60 * 60;
const MAX_RETRY_AFTER_MS = 60_000;
/** After a 429 that does not say for how long. */
const DEFAULT_RETRY_AFTER_MS = 2_000;
const FORM_CONTENT_TYPE = /^(?:application\/x-www-form-urlencoded|text\/plain)\s*(?:;|$)/i;

const USER_ERRORS = new Set(['interaction_required', 'consent_required', 'login_required']);
const CLIENT_ERRORS = new Set(['invalid_client', 'unauthorized_client']);
const CONFIGURATION_ERRORS = new Set([
  'invalid_scope',
  'invalid_target',
  'unsupported_grant_type',
  'invalid_request',
  'invalid_dpop_proof',
  'use_dpop_nonce',
]);
const TRANSIENT_ERRORS = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

/** By status and OAuth code alone; what is written for people is not read. */
export function parseTokenResponse(
  response: FormResponse,
  sentAt: number,
  clock: Clock,
): TokenEndpointResult {
  const { status } = response;
  const retryAfterMs = readRetryAfter(response.getHeader('retry-after'), clock, MAX_RETRY_AFTER_MS);
  if (status === 429) return { kind: 'unavailable', retryAfterMs: retryAfterMs ?? DEFAULT_RETRY_AFTER_MS };
  if (status === 503 && retryAfterMs !== undefined) return { kind: 'unavailable', retryAfterMs };
  // Whatever its body says: who fails in the middle may have done half of it.
  if (status >= 500) return { kind: 'in_doubt', status };
  const body = parseBody(response);
  // Some answer 200 to everything: an error is one whatever its status.
  if (body?.['error'] !== undefined) return classifyError(body, status);
  if (status === 200) {
    const tokens = body && parseTokens(body);
    return tokens ? { kind: 'tokens', tokens, sentAt } : { kind: 'in_doubt', status };
  }
  if (status === 404 || status === 405) return { kind: 'moved', status };
  return status < 300 ? { kind: 'in_doubt', status } : { kind: 'unintelligible', status };
}

function classifyError(body: Body, status: number): TokenEndpointResult {
  const error = parseErrorCode(body['error']);
  const suberror = parseErrorCode(body['suberror']);
  const claims = typeof body['claims'] === 'string' ? normalizeClaims(body['claims']) : undefined;
  if (error === undefined) return { kind: 'unintelligible', status };
  // Entra says `invalid_grant` here too; the second word, or the claims, tell that nothing is dead.
  const requiresUser =
    USER_ERRORS.has(error) || (suberror !== undefined && USER_ERRORS.has(suberror)) || claims !== undefined;
  if (requiresUser) return { kind: 'user_needed', error, claims };
  if (error === 'invalid_grant') return { kind: 'rejected', error };
  if (CLIENT_ERRORS.has(error)) return { kind: 'client_refused', error };
  if (CONFIGURATION_ERRORS.has(error)) return { kind: 'misconfigured', error };
  if (TRANSIENT_ERRORS.has(error)) return { kind: 'unavailable', retryAfterMs: DEFAULT_RETRY_AFTER_MS };
  return { kind: 'unintelligible', status };
}

function parseTokens(body: Body): TokenSet | undefined {
  const accessToken = parseToken(body['access_token']);
  const tokenType = parseTokenType(body['token_type']);
  if (accessToken === undefined || tokenType === undefined) return undefined;
  const { scope } = body;
  return {
    accessToken,
    tokenType,
    ...parseRefreshToken(body['refresh_token']),
    idToken: parseToken(body['id_token']),
    expiresInS: parseSeconds(body['expires_in']),
    scope: typeof scope === 'string' && scope.trim() !== '' ? scope : undefined,
  };
}

/** Absent with some, who mean the only kind they know. Another kind cannot be presented. */
function parseTokenType(value: unknown): TokenSet['tokenType'] | undefined {
  if (value === undefined || value === null) return 'bearer';
  const type = typeof value === 'string' ? value.toLowerCase() : '';
  return type === 'bearer' || type === 'dpop' ? type : undefined;
}

function parseToken(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_TOKEN_LENGTH && TOKEN_PATTERN.test(value)
    ? value
    : undefined;
}

/** Whether it is there matters as much as what it is: where it is, what was sent for it has been replaced. */
function parseRefreshToken(value: unknown): Pick<TokenSet, 'refreshToken' | 'isRefreshTokenUnusable'> {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value === 'string' && REFRESH_TOKEN_PATTERN.test(value)) return { refreshToken: value };
  return { isRefreshTokenUnusable: true };
}

/** A number; some write it as text. */
function parseSeconds(value: unknown): number | null {
  const seconds = typeof value === 'string' && /^\s*-?\d{1,12}\s*$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) ? Math.min(seconds, MAX_LIFETIME_S) : null;
}

function parseErrorCode(value: unknown): string | undefined {
  return typeof value === 'string' && ERROR_CODE_PATTERN.test(value) ? value : undefined;
}

/** JSON; of those that do not know it, a form. */
function parseBody(response: FormResponse): Body | undefined {
  try {
    const value: unknown = JSON.parse(response.text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : undefined;
  } catch {
    return FORM_CONTENT_TYPE.test(response.getHeader('content-type') ?? '')
      ? Object.fromEntries(new URLSearchParams(response.text))
      : undefined;
  }
}
