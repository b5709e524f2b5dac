import type { Clock } from '@behalf/kernel';
import { readRetryAfter } from '../../upstream/http/classifyStatus.ts';
import { claimsText } from '../obo/claimsChallenge.ts';
import type { TokenAnswer, TokenSet } from './tokenAnswer.ts';
import type { FormAnswer } from './tokenEndpointPost.ts';

type Body = Readonly<Record<string, unknown>>;

/** RFC 6749, section 5.2, and what extensions add. A word with anything else in it is no code. */
const CODE = /^[A-Za-z0-9_.-]{1,64}$/;
/** What can stand in a header and cannot end it. */
const TOKEN = /^[\x21-\x7e]+$/;
const LONGEST_TOKEN = 32 * 1_024;
/** RFC 6749, appendix A.17: it goes into a form and never into a header, so blanks are fine, and its length is its maker's. */
const REFRESH_TOKEN = /^[\x20-\x7e]+$/;
const LONGEST_LIFETIME_S = 10 * 365 * 24 * 60 * 60;
const LONGEST_WAIT_MS = 60_000;
/** After a 429 that does not say for how long. */
const UNSAID_WAIT_MS = 2_000;
const FORM_TYPE = /^(?:application\/x-www-form-urlencoded|text\/plain)\s*(?:;|$)/i;

const USER = new Set(['interaction_required', 'consent_required', 'login_required']);
const CLIENT = new Set(['invalid_client', 'unauthorized_client']);
const MISCONFIGURED = new Set([
  'invalid_scope',
  'invalid_target',
  'unsupported_grant_type',
  'invalid_request',
  'invalid_dpop_proof',
  'use_dpop_nonce',
]);
const PASSING = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

/** By status and OAuth code alone; what is written for people is not read. */
export function readTokenAnswer(answer: FormAnswer, sentAt: number, clock: Clock): TokenAnswer {
  const { status } = answer;
  const retryAfterMs = readRetryAfter(answer.header('retry-after'), clock, LONGEST_WAIT_MS);
  if (status === 429) return { kind: 'unavailable', retryAfterMs: retryAfterMs ?? UNSAID_WAIT_MS };
  if (status === 503 && retryAfterMs !== undefined) return { kind: 'unavailable', retryAfterMs };
  // Whatever its body says: who fails in the middle may have done half of it.
  if (status >= 500) return { kind: 'in_doubt', status };
  const body = readBody(answer);
  // Some answer 200 to everything: an error is one whatever its status.
  if (body?.['error'] !== undefined) return ofError(body, status);
  if (status === 200) {
    const tokens = body && readTokens(body);
    return tokens ? { kind: 'tokens', tokens, sentAt } : { kind: 'in_doubt', status };
  }
  if (status === 404 || status === 405) return { kind: 'moved', status };
  return status < 300 ? { kind: 'in_doubt', status } : { kind: 'unintelligible', status };
}

function ofError(body: Body, status: number): TokenAnswer {
  const error = codeIn(body['error']);
  const suberror = codeIn(body['suberror']);
  const claims = typeof body['claims'] === 'string' ? claimsText(body['claims']) : undefined;
  if (error === undefined) return { kind: 'unintelligible', status };
  // Entra says `invalid_grant` here too; the second word, or the claims, tell that nothing is dead.
  const isUsers = USER.has(error) || (suberror !== undefined && USER.has(suberror)) || claims !== undefined;
  if (isUsers) return { kind: 'user_needed', error, claims };
  if (error === 'invalid_grant') return { kind: 'rejected', error };
  if (CLIENT.has(error)) return { kind: 'client_refused', error };
  if (MISCONFIGURED.has(error)) return { kind: 'misconfigured', error };
  if (PASSING.has(error)) return { kind: 'unavailable', retryAfterMs: UNSAID_WAIT_MS };
  return { kind: 'unintelligible', status };
}

function readTokens(body: Body): TokenSet | undefined {
  const accessToken = tokenIn(body['access_token']);
  const tokenType = typeIn(body['token_type']);
  if (accessToken === undefined || tokenType === undefined) return undefined;
  const { scope } = body;
  return {
    accessToken,
    tokenType,
    ...refreshTokenIn(body['refresh_token']),
    idToken: tokenIn(body['id_token']),
    expiresInS: secondsIn(body['expires_in']),
    scope: typeof scope === 'string' && scope.trim() !== '' ? scope : undefined,
  };
}

/** Absent with some, who mean the only kind they know. Another kind cannot be presented. */
function typeIn(value: unknown): TokenSet['tokenType'] | undefined {
  if (value === undefined || value === null) return 'bearer';
  const type = typeof value === 'string' ? value.toLowerCase() : '';
  return type === 'bearer' || type === 'dpop' ? type : undefined;
}

function tokenIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= LONGEST_TOKEN && TOKEN.test(value) ? value : undefined;
}

/** Whether it is there matters as much as what it is: where it is, what was sent for it has been replaced. */
function refreshTokenIn(value: unknown): Pick<TokenSet, 'refreshToken' | 'isRefreshTokenUnusable'> {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value === 'string' && REFRESH_TOKEN.test(value)) return { refreshToken: value };
  return { isRefreshTokenUnusable: true };
}

/** A number; some write it as text. */
function secondsIn(value: unknown): number | null {
  const seconds = typeof value === 'string' && /^\s*-?\d{1,12}\s*$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds)
    ? Math.min(seconds, LONGEST_LIFETIME_S)
    : null;
}

function codeIn(value: unknown): string | undefined {
  return typeof value === 'string' && CODE.test(value) ? value : undefined;
}

/** JSON; of those that do not know it, a form. */
function readBody(answer: FormAnswer): Body | undefined {
  try {
    const value: unknown = JSON.parse(answer.text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : undefined;
  } catch {
    return FORM_TYPE.test(answer.header('content-type') ?? '')
      ? Object.fromEntries(new URLSearchParams(answer.text))
      : undefined;
  }
}
