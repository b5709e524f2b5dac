import {
  type Cancellation,
  type Fetch,
  type Send,
  type SendRequest,
  type SendResponse,
  abortReason,
  rejectOnAbort,
} from '@behalf/kernel';
import type { Bearer, DpopToken, WireToken } from './target.ts';
import type { HeaderValues } from './upstream.ts';

/*
 * Sends requests with the token of a user.
 *
 * - The token is obtained for each request and is never kept.
 * - Without a token nothing is sent: no request goes out with another or an outdated credential.
 * - A sender-constrained token is sent with a DPoP proof (RFC 9449).
 */

/** Configured headers, and the source of the token, if any. */
export interface PresentedCredential {
  readonly headers?: HeaderValues | undefined;
  readonly bearer?: Bearer | undefined;
}

const AUTHORIZATION = 'authorization';
const DPOP = 'dpop';
const DPOP_NONCE = 'dpop-nonce';

/** Adds the token, and the proof if it is sender-constrained (RFC 9449, section 7.1). Replaces such headers. */
export function withAuthorization(
  headers: HeaderValues,
  token: WireToken,
  method: string,
  url: string,
): HeaderValues {
  assertTokenPresent(token);
  if (typeof token === 'string') return replaceHeader(headers, AUTHORIZATION, `Bearer ${token}`);
  const authorized = replaceHeader(headers, AUTHORIZATION, `DPoP ${token.text}`);
  return replaceHeader(authorized, DPOP, token.createProof(method, url));
}

/** A source without a token must reject. An empty token is a bug, and nothing is sent. */
export function assertTokenPresent(token: WireToken): void {
  if (!(typeof token === 'string' ? token : (token as DpopToken | undefined)?.text)) {
    throw new TypeError('The token source returned an empty token');
  }
}

/** Removes the header in any letter case, so that exactly one value is sent. */
function replaceHeader(headers: HeaderValues, headerName: string, value: string): HeaderValues {
  const result: Record<string, string> = { ...headers, [headerName]: value };
  for (const name in headers) {
    if (name.length !== headerName.length || name === headerName) continue;
    if (name.toLowerCase() === headerName) Reflect.deleteProperty(result, name);
  }
  return result;
}

/** Rejects with the error of the bearer, or with the abort reason as soon as the signal aborts. */
export async function acquireToken(bearer: Bearer, signal: Cancellation): Promise<WireToken> {
  if (signal.aborted) throw abortReason(signal);
  const tokenResult = bearer.token();
  const token = tokenResult instanceof Promise ? await rejectOnAbort(tokenResult, signal) : tokenResult;
  assertTokenPresent(token);
  return token;
}

export async function sendWithCredential(
  send: Send,
  request: SendRequest,
  bearer: Bearer | undefined,
): Promise<SendResponse> {
  if (!bearer) return send(request);
  const token = await acquireToken(bearer, request.signal);
  if (request.signal.aborted) throw abortReason(request.signal);
  return sendWithToken(send, request, token);
}

export function sendWithToken(send: Send, request: SendRequest, token: WireToken): Promise<SendResponse> {
  const { method, url } = request;
  return sendWithNonceRetry(
    token,
    url,
    () => withAuthorization(request.headers, token, method, url),
    (headers) => send({ ...request, headers }),
    (reply, name) => reply.header(name),
    (reply) => void reply.discard(),
  );
}

export async function fetchWithToken(
  fetch: Fetch,
  url: string | URL,
  init: RequestInit | undefined,
  token: WireToken | undefined,
): Promise<Response> {
  // Plain headers: errors of WHATWG `Headers` would repeat an invalid value, those of egress do not.
  const plainHeaders = Object.fromEntries(new Headers(init?.headers));
  if (token === undefined) return fetch(url, { ...init, headers: plainHeaders });
  const targetUrl = String(url);
  return sendWithNonceRetry(
    token,
    targetUrl,
    () => withAuthorization(plainHeaders, token, init?.method ?? 'GET', targetUrl),
    (headers) => fetch(url, { ...init, headers }),
    ({ headers }, name) => headers.get(name) ?? undefined,
    ({ body }) => body?.cancel().catch(() => undefined),
  );
}

/**
 * Repeats a request once if the server requires another DPoP nonce (RFC 9449, section 9). The server has not run the
 * rejected request. If the nonce was already in the proof, the rejection has another cause.
 */
async function sendWithNonceRetry<R extends { readonly status: number }>(
  token: WireToken,
  url: string,
  buildHeaders: () => HeaderValues,
  send: (headers: HeaderValues) => Promise<R>,
  readHeader: (reply: R, name: string) => string | undefined,
  discard: (reply: R) => unknown,
): Promise<R> {
  const headers = buildHeaders();
  const reply = await send(headers);
  if (typeof token === 'string') return reply;
  const isNewNonce = token.recordNonce(url, readHeader(reply, DPOP_NONCE), headers[DPOP] ?? '');
  const isNonceRequired = readHeader(reply, 'www-authenticate')?.includes('use_dpop_nonce') === true;
  if (!isNewNonce || reply.status !== 401 || !isNonceRequired) return reply;
  await discard(reply);
  const retryHeaders = buildHeaders();
  const retryReply = await send(retryHeaders);
  token.recordNonce(url, readHeader(retryReply, DPOP_NONCE), retryHeaders[DPOP] ?? '');
  return retryReply;
}

/**
 * A bearer had no token, so nothing was sent. Inside a channel it distinguishes this case from network errors. Callers
 * receive the original error.
 */
export class TokenUnavailableError extends Error {
  override readonly name = 'TokenUnavailableError';
  readonly originalError: unknown;

  constructor(originalError: unknown) {
    super('The token source returned no token');
    this.originalError = originalError;
  }
}

export function rethrowOriginal(error: unknown): never {
  throw error instanceof TokenUnavailableError ? error.originalError : error;
}
