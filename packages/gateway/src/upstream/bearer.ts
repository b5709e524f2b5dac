import {
  type Cancellation,
  type Fetch,
  type Send,
  type SendRequest,
  type SendResponse,
  abortReason,
  rejectOnAbort,
} from '@behalf/kernel';
import type { Bearer, DpopToken, UpstreamTarget, WireToken } from './target.ts';
import type { HeaderValues } from './upstream.ts';

/** What a caller presents: headers as they stand, and a token that is asked for when something is sent. */
export interface PresentedCredential {
  readonly headers?: HeaderValues | undefined;
  readonly bearer?: Bearer | undefined;
}

const AUTHORIZATION = 'authorization';
const DPOP = 'dpop';

/**
 * The headers of one request with the token of this moment, for this request alone. It is the only Authorization that
 * goes out: what else stands there under that name, in whatever letter case, is another's or an old one.
 */
export function withAuthorization(
  headers: HeaderValues,
  token: WireToken,
  method: string,
  url: string,
): HeaderValues {
  assertTokenPresent(token);
  return typeof token === 'string'
    ? replaceHeader(headers, AUTHORIZATION, `Bearer ${token}`)
    : withDpop(headers, token, method, url);
}

/** A source that has none must say so. Nothing is sent on the strength of its silence. */
export function assertTokenPresent(token: WireToken): void {
  if (!(typeof token === 'string' ? token : (token as DpopToken | undefined)?.text)) {
    throw new TypeError('The token source returned an empty token');
  }
}

/** A token that is bound to a key, with the proof of it (RFC 9449, section 7.1). */
function withDpop(headers: HeaderValues, token: DpopToken, method: string, url: string): HeaderValues {
  const authorized = replaceHeader(headers, AUTHORIZATION, `DPoP ${token.text}`);
  return replaceHeader(authorized, DPOP, token.createProof(method, url));
}

function replaceHeader(headers: HeaderValues, headerName: string, value: string): HeaderValues {
  const result: Record<string, string> = { ...headers, [headerName]: value };
  for (const name in headers) {
    if (name.length !== headerName.length || name === headerName) continue;
    if (name.toLowerCase() === headerName) Reflect.deleteProperty(result, name);
  }
  return result;
}

/** The token of this moment. Rejects as the bearer does, or with the signal's reason as soon as it aborts. */
export async function acquireToken(bearer: Bearer, signal: Cancellation): Promise<WireToken> {
  if (signal.aborted) throw abortReason(signal);
  const tokenResult = bearer.token();
  const token = tokenResult instanceof Promise ? await rejectOnAbort(tokenResult, signal) : tokenResult;
  assertTokenPresent(token);
  return token;
}

/** Sends with the token of this moment, where there is a bearer. */
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

/** With this very token; a second time where a server wants something repeated in the proof: it has run nothing then. */
export async function sendWithToken(
  send: Send,
  request: SendRequest,
  token: WireToken,
): Promise<SendResponse> {
  const { method, url } = request;
  const buildRequest = () => ({
    ...request,
    headers: withAuthorization(request.headers, token, method, url),
  });
  const firstRequest = buildRequest();
  const reply = await send(firstRequest);
  if (typeof token === 'string') return reply;
  if (!requiresNonceRetry(token, url, firstRequest.headers, reply.status, (name) => reply.header(name)))
    return reply;
  void reply.discard();
  const retryRequest = buildRequest();
  const retryReply = await send(retryRequest);
  token.recordNonce(url, retryReply.header(NONCE), readProof(retryRequest.headers));
  return retryReply;
}

/** The same over WHATWG fetch. `init.headers` are plain. */
export async function fetchWithToken(
  fetch: Fetch,
  url: string | URL,
  init: RequestInit & { headers: HeaderValues },
  token: WireToken,
): Promise<Response> {
  const [method, targetUrl] = [init.method ?? 'GET', String(url)];
  const buildInit = () => ({ ...init, headers: withAuthorization(init.headers, token, method, targetUrl) });
  const firstInit = buildInit();
  const response = await fetch(url, firstInit);
  if (typeof token === 'string') return response;
  const header = (name: string) => response.headers.get(name) ?? undefined;
  if (!requiresNonceRetry(token, targetUrl, firstInit.headers, response.status, header)) return response;
  await response.body?.cancel().catch(() => undefined);
  const retryInit = buildInit();
  const retryResponse = await fetch(url, retryInit);
  token.recordNonce(targetUrl, retryResponse.headers.get(NONCE) ?? undefined, readProof(retryInit.headers));
  return retryResponse;
}

const NONCE = 'dpop-nonce';

function readProof(headers: HeaderValues): string {
  return headers[DPOP] ?? '';
}

/** RFC 9449, section 9. A nonce that was in the proof is not what is missing. */
function requiresNonceRetry(
  token: DpopToken,
  url: string,
  sentHeaders: HeaderValues,
  status: number,
  header: (name: string) => string | undefined,
): boolean {
  const isNewNonce = token.recordNonce(url, header(NONCE), readProof(sentHeaders));
  return isNewNonce && status === 401 && header('www-authenticate')?.includes('use_dpop_nonce') === true;
}

/** As plain values: WHATWG's own errors repeat a value that they refuse, and the door out does not. */
export function toPlainHeaders(headers: RequestInit['headers']): HeaderValues {
  return Object.fromEntries(new Headers(headers));
}

/**
 * A bearer had no token, so nothing was sent. Inside a channel it stands apart from what the network does; whoever asked
 * gets the bearer's very error.
 */
export class TokenUnavailableError extends Error {
  override readonly name = 'TokenUnavailableError';
  readonly originalError: unknown;

  constructor(originalError: unknown) {
    super('The token source returned no token');
    this.originalError = originalError;
  }
}

/** Throws the error on as whoever asked should see it. */
export function rethrowOriginal(error: unknown): never {
  throw error instanceof TokenUnavailableError ? error.originalError : error;
}

/** A target, and whether somebody waits for its token at this moment. */
interface TokenWaitTracker {
  readonly target: UpstreamTarget;
  readonly isPending: boolean;
}

/** Time that passes while a token is exchanged says nothing of the server, and must not be told of it. */
export function trackTokenWait(target: UpstreamTarget): TokenWaitTracker {
  if (target.type === 'stdio' || !target.bearer) return { target, isPending: false };
  const { bearer } = target;
  let pendingCount = 0;
  const trackedBearer: Bearer = {
    ...bearer,
    token() {
      const tokenResult = bearer.token();
      if (!(tokenResult instanceof Promise)) return tokenResult;
      pendingCount += 1;
      return tokenResult.finally(() => (pendingCount -= 1));
    },
  };
  return {
    target: { ...target, bearer: trackedBearer },
    get isPending() {
      return pendingCount > 0;
    },
  };
}
