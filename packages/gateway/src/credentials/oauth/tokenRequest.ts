import { type Cancel, type Clock, type Fetch, type Random, isObject, readBoundedText } from '@behalf/kernel';
import { type OAuthClient, authenticateClient } from './clientAuthentication.ts';
import type { Prover } from './dpop.ts';

/** Maximum size of a token response. */
const MAX_RESPONSE_BYTES = 256 * 1_024;
const TIMEOUT_MS = 10_000;
/** Extra time to read a response that already waits in the socket of a suspended process. */
const MAX_WAKE_GRACE_MS = 1_000;

interface HttpRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly timeoutMs?: number;
  readonly maxBytes?: number | undefined;
  /** Whether the caller needs the body of a response with this status. Other bodies are not read. Default: always. */
  readonly needsBody?: (status: number) => boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpResponse {
  readonly status: number;
  /** Undefined if the body exceeds the size limit or is not needed. */
  readonly text: string | undefined;
  /** When the request was sent. Lifetimes are counted from here, because the server may have counted from here. */
  readonly sentAt: number;
  header(name: string): string | undefined;
}

/** One request to an authorization server, limited in time and size. A redirect is returned and never followed. */
export async function sendRequest({
  url,
  method = 'POST',
  headers,
  body,
  fetch,
  clock,
  timeoutMs = TIMEOUT_MS,
  maxBytes = MAX_RESPONSE_BYTES,
  needsBody = () => true,
  signal,
}: HttpRequest): Promise<HttpResponse> {
  const timeout = new AbortController();
  const sentAt = clock.now();
  let cancelTimer: Cancel = () => undefined;
  const abortRequest = () => timeout.abort(new Error('the request timed out'));
  const startTimer = (ms: number, onTimeout: () => void) => {
    cancelTimer = clock.timer(ms, onTimeout, { keepAlive: true });
  };
  // A suspended process runs its timers before it reads its sockets. The response may have arrived long ago and may hold the
  // only valid refresh token.
  startTimer(timeoutMs, () =>
    clock.now() - sentAt < 1.5 * timeoutMs
      ? abortRequest()
      : startTimer(Math.min(MAX_WAKE_GRACE_MS, timeoutMs), abortRequest),
  );
  try {
    const response = await fetch(url, {
      method,
      headers: { accept: 'application/json', ...headers },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    });
    return {
      status: response.status,
      text: await readBody(response, needsBody(response.status) ? maxBytes : 0),
      sentAt,
      header: (name) => response.headers.get(name) ?? undefined,
    };
  } finally {
    cancelTimer();
  }
}

/** With a limit of zero, the body is cancelled: a server that never ends it cannot delay the caller. */
async function readBody(response: Response, maxBytes: number): Promise<string | undefined> {
  if (!response.body) return '';
  if (maxBytes > 0) return readBoundedText(response, maxBytes);
  await response.body.cancel();
  return undefined;
}

/** Sends form fields and authenticates the client. */
export async function postForm(
  request: Omit<HttpRequest, 'method' | 'body'> & { readonly fields: Readonly<Record<string, string>> },
): Promise<HttpResponse> {
  return sendRequest({
    ...request,
    headers: {
      ...request.headers,
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(request.fields).toString(),
  });
}

export interface TokenRequest {
  readonly endpoint: string;
  /** Undefined if only the token endpoint of the authorization server is known. */
  readonly issuer: string | undefined;
  readonly client: OAuthClient;
  /** Grant type and parameters, without client authentication. */
  readonly form: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The guarded fetch of the egress. */
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: Random;
  /** For both requests together, if a DPoP nonce requires a second one. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** The key that the tokens are bound to (RFC 9449, section 5). */
  readonly prover?: Prover | undefined;
  /** Called directly before the request is sent. If it returns false, nothing is sent. */
  readonly canSend?: () => boolean;
}

export type TokenRequestOutcome =
  | { readonly kind: 'response'; readonly response: HttpResponse }
  | { readonly kind: 'not_sent' }
  | { readonly kind: 'client_key_unusable'; readonly cause: unknown }
  /** The request failed on the network. It may have arrived. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** Sends one authenticated request to a token endpoint. Answers a DPoP nonce challenge once. Never rejects. */
export async function sendTokenRequest(request: TokenRequest): Promise<TokenRequestOutcome> {
  const { clock, timeoutMs = TIMEOUT_MS } = request;
  const startedAt = clock.now();
  const first = await sendOnce(request, timeoutMs, startedAt);
  if (first.kind !== 'response' || !first.hasNewNonce || !requiresNonce(first.response)) return first;
  // The remaining time must suffice for a response: after an abort the outcome of the request is unknown.
  if (clock.now() - startedAt > timeoutMs / 2) return { kind: 'not_sent' };
  // RFC 9449, section 8: the server did nothing but name a nonce. A second demand is an error.
  return sendOnce(request, timeoutMs, startedAt);
}

type OutcomeWithNonce =
  | Exclude<TokenRequestOutcome, { kind: 'response' }>
  | { readonly kind: 'response'; readonly response: HttpResponse; readonly hasNewNonce: boolean };

async function sendOnce(
  request: TokenRequest,
  timeoutMs: number,
  startedAt: number,
): Promise<OutcomeWithNonce> {
  const { endpoint, issuer, client, form, headers = {}, fetch, clock, random, prover } = request;
  let clientAuth: Awaited<ReturnType<typeof authenticateClient>>;
  try {
    clientAuth = await authenticateClient(client, { issuer, tokenEndpoint: endpoint, clock, random });
  } catch (cause) {
    return { kind: 'client_key_unusable', cause };
  }
  if (request.canSend?.() === false) return { kind: 'not_sent' };
  const proof = prover?.createProof('POST', endpoint) ?? '';
  try {
    const response = await postForm({
      ...{ url: endpoint, fetch, clock, maxBytes: request.maxBytes, signal: request.signal },
      timeoutMs: timeoutMs - (clock.now() - startedAt),
      // Fields and headers of a server definition never replace the client authentication.
      fields: { ...form, ...clientAuth.fields },
      headers: { ...lowerCaseNames(headers), ...clientAuth.headers, ...(prover && { dpop: proof }) },
    });
    const hasNewNonce = prover?.recordNonce(endpoint, response.header('dpop-nonce'), proof) === true;
    return { kind: 'response', response, hasNewNonce };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function requiresNonce(response: HttpResponse): boolean {
  const { status } = response;
  return status !== 429 && status < 500 && parseResponseBody(response)?.['error'] === 'use_dpop_nonce';
}

export type JsonBody = Readonly<Record<string, unknown>>;

/** Undefined if the text is not a JSON object. */
export function parseJsonObject(text: string): JsonBody | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const FORM_CONTENT_TYPE = /^(?:application\/x-www-form-urlencoded|text\/plain)\s*(?:;|$)/i;

/** A JSON object. Some older servers respond with a form instead. */
export function parseResponseBody(response: HttpResponse): JsonBody | undefined {
  const { text = '' } = response;
  const body = parseJsonObject(text);
  if (body || !FORM_CONTENT_TYPE.test(response.header('content-type') ?? '')) return body;
  return Object.fromEntries(new URLSearchParams(text));
}

/** RFC 6749, section 5.2. Text in another form is not repeated anywhere: it could carry anything. */
const ERROR_CODE_PATTERN = /^[A-Za-z0-9_.-]{1,64}$/;

export function readErrorCode(value: unknown): string | undefined {
  return typeof value === 'string' && ERROR_CODE_PATTERN.test(value) ? value : undefined;
}

/** Errors that the user can resolve at the authorization server (OpenID Connect Core 1.0, section 3.1.2.6). */
export const interactionErrors: ReadonlySet<string> = new Set([
  'interaction_required',
  'consent_required',
  'login_required',
]);

export const temporaryErrors: ReadonlySet<string> = new Set([
  'temporarily_unavailable',
  'server_error',
  'slow_down',
]);

/** 32 KiB: a token is sent in a header with every request. */
export const MAX_TOKEN_LENGTH = 32 * 1_024;
/** Characters that fit in a header after `Bearer ` and cannot end it. */
const TOKEN_PATTERN = /^[\x21-\x7e]+$/;

export function isTokenText(value: unknown): value is string {
  return typeof value === 'string' && TOKEN_PATTERN.test(value);
}

/** `expires_in`: a number. Some servers send it as text. */
export function parseSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\s*-?\d{1,12}\s*$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : undefined;
}
