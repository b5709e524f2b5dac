import type { Cancel, Clock, Fetch, Random } from '@behalf/kernel';
import { readRetryAfter } from '../../upstream/http/errors.ts';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import { normalizeClaims } from './claims.ts';
import {
  type ClientAuthenticationParams,
  type OAuthClient,
  authenticateClient,
} from './clientAuthentication.ts';
import type { Prover } from './dpop.ts';

/** Tokens as an authorization server gave them. */
export interface TokenSet {
  readonly accessToken: string;
  readonly tokenType: 'bearer' | 'dpop';
  readonly refreshToken?: string | undefined;
  /** There was a refresh token in the answer, and nobody could ever send it: the one before it may be over all the same. */
  readonly isRefreshTokenUnusable?: boolean;
  readonly idToken?: string | undefined;
  /** As the answer said, read leniently: null when it said nothing; 0 or less: over already. */
  readonly expiresInS: number | null;
  /** As granted; undefined when the answer does not say. */
  readonly scope?: string | undefined;
}

/** What became of one request to a token endpoint, decided by status and OAuth code alone. */
export type TokenEndpointResult =
  | { readonly kind: 'tokens'; readonly tokens: TokenSet; readonly sentAt: number }
  /** `invalid_grant`: what was sent is dead. */
  | { readonly kind: 'rejected'; readonly error: string }
  /** `invalid_client`, `unauthorized_client`. */
  | { readonly kind: 'client_refused'; readonly error: string }
  /** `invalid_scope`, `invalid_target`, `unsupported_grant_type`, `invalid_request`. */
  | { readonly kind: 'misconfigured'; readonly error: string }
  /** `interaction_required` and its like; `claims` as JSON text. */
  | { readonly kind: 'user_needed'; readonly error: string; readonly claims?: string | undefined }
  /** Nothing was consumed: it never arrived, or it was put off. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs?: number | undefined }
  /** Sent, and the answer is lost or says nothing: it may have been consumed. */
  | { readonly kind: 'in_doubt'; readonly status?: number | undefined }
  /** 404 or 405. */
  | { readonly kind: 'moved'; readonly status: number }
  /** Another 4xx without an OAuth error: never destructive. */
  | { readonly kind: 'unintelligible'; readonly status: number };

const TIMEOUT_MS = 10_000;

export interface OAuthTokenRequest {
  readonly endpoint: string;
  readonly issuer: string;
  readonly client: OAuthClient;
  /** Grant and parameters, without the client. */
  readonly form: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The guarded way there. */
  readonly fetch: Fetch;
  readonly readError: ReadNetworkError;
  readonly clock: Clock;
  readonly random: Random;
  readonly timeoutMs?: number;
  /** The key that the tokens are, or are to be, bound to (RFC 9449, section 5). */
  readonly prover?: Prover | undefined;
  /** Asked when nothing is left but sending; false: nothing is sent. */
  readonly canSend?: () => boolean;
}

/** One request to a token endpoint. Never rejects: what became of it is in the answer. */
export async function requestTokens({
  endpoint,
  issuer,
  client,
  form,
  headers = {},
  fetch,
  readError,
  clock,
  random,
  timeoutMs = TIMEOUT_MS,
  prover,
  canSend = () => true,
}: OAuthTokenRequest): Promise<TokenEndpointResult> {
  const startedAt = clock.now();

  async function send(): Promise<
    { response: FormResponse; sentAt: number; proof: string } | TokenEndpointResult
  > {
    let clientAuth: ClientAuthenticationParams;
    try {
      // Anew for each request: an assertion is good once.
      clientAuth = await authenticateClient(client, { issuer, clock, random });
    } catch {
      return { kind: 'misconfigured', error: 'client_key_unusable' };
    }
    if (!canSend()) return { kind: 'unavailable' };
    const sentAt = clock.now();
    const proof = prover?.createProof('POST', endpoint) ?? '';
    const request: FormRequest = {
      ...{ url: endpoint, fetch, clock, timeoutMs: timeoutMs - (sentAt - startedAt) },
      // Nothing that a definition adds takes the place of who we are.
      fields: { ...form, ...clientAuth.fields },
      headers: {
        ...lowerCaseNames(headers),
        ...clientAuth.headers,
        ...(prover && { dpop: proof }),
      },
    };
    try {
      return { response: await postForm(request), sentAt, proof };
    } catch (error) {
      return classifyFailure(error, readError);
    }
  }

  const first = await send();
  if ('kind' in first) return first;
  const hasNewNonce =
    prover?.recordNonce(endpoint, first.response.getHeader('dpop-nonce'), first.proof) === true;
  const result = parseTokenResponse(first.response, first.sentAt, clock);
  // Nothing was done there but saying what to repeat (RFC 9449, section 8). Once: who asks again asks for something else.
  if (!hasNewNonce || result.kind !== 'misconfigured' || result.error !== 'use_dpop_nonce') return result;
  // What is left must be enough for an answer: who hangs up early does not know what became of it.
  if (clock.now() - startedAt > timeoutMs / 2) return { kind: 'unavailable' };
  const second = await send();
  if ('kind' in second) return second;
  prover.recordNonce(endpoint, second.response.getHeader('dpop-nonce'), second.proof);
  return parseTokenResponse(second.response, second.sentAt, clock);
}

/** Only who knows that nothing was sent may say so. */
function classifyFailure(error: unknown, readError: ReadNetworkError): TokenEndpointResult {
  const networkError = readError(error);
  if (networkError?.requestSent !== false) return { kind: 'in_doubt' };
  return networkError.code === 'MCP_DOMAIN_NOT_ALLOWED'
    ? { kind: 'misconfigured', error: 'endpoint_not_allowed' }
    : { kind: 'unavailable' };
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** More than any honest answer has. */
const MAX_RESPONSE_BYTES = 256 * 1_024;
/** For what lies in the socket of a process that was stopped for longer than its request might take. */
const MAX_WAKE_GRACE_MS = 1_000;

interface FormRequest {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

interface FormResponse {
  readonly status: number;
  readonly text: string;
  getHeader(name: string): string | undefined;
}

/** One form, one answer, in bounded time and size; a redirect is an answer and is not followed. */
export async function postForm({
  url,
  fields,
  headers,
  fetch,
  clock,
  timeoutMs,
}: FormRequest): Promise<FormResponse> {
  const timeout = new AbortController();
  const sentAt = clock.now();
  let cancelTimer: Cancel = () => undefined;
  const abortRequest = () => timeout.abort(new Error('the request timed out'));
  const startTimer = (ms: number, onTimeout: () => void) => {
    cancelTimer = clock.timer(ms, onTimeout, { keepAlive: true });
  };
  // A process that was stopped wakes with its timers first. The answer may have come long ago, and it may hold the only
  // refresh token that lives.
  startTimer(timeoutMs, () =>
    clock.now() - sentAt < 1.5 * timeoutMs
      ? abortRequest()
      : startTimer(Math.min(MAX_WAKE_GRACE_MS, timeoutMs), abortRequest),
  );
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(fields).toString(),
      redirect: 'manual',
      signal: timeout.signal,
    });
    const text = await readLimitedText(response);
    return { status: response.status, text, getHeader: (name) => response.headers.get(name) ?? undefined };
  } finally {
    cancelTimer();
  }
}

async function readLimitedText({ body }: Response): Promise<string> {
  if (!body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop by an error ends the exchange.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw new RangeError('The response is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

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
function parseTokenResponse(response: FormResponse, sentAt: number, clock: Clock): TokenEndpointResult {
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
