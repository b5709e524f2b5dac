import { abortReason, unlessAborted, type Cancellation, type Fetch, type Send } from '@behalf/kernel';
import type { SendReply, SendRequest } from '@behalf/kernel';
import type { Bearer, BoundToken, Token } from './target.ts';
import type { HeaderValues } from './upstream.ts';

/** What a caller presents: headers as they stand, and a token that is asked for when something is sent. */
export interface Presented {
  readonly headers?: HeaderValues | undefined;
  readonly bearer?: Bearer | undefined;
}

const AUTHORIZATION = 'authorization';
const DPOP = 'dpop';

/**
 * The headers of one request with the token of this moment, for this request alone. It is the only Authorization that
 * goes out: what else stands there under that name, in whatever letter case, is another's or an old one.
 */
export function bearing(headers: HeaderValues, token: Token, method: string, url: string): HeaderValues {
  refuseEmpty(token);
  return typeof token === 'string'
    ? owning(headers, AUTHORIZATION, `Bearer ${token}`)
    : proving(headers, token, method, url);
}

/** A source that has none must say so. Nothing is sent on the strength of its silence. */
export function refuseEmpty(token: Token): void {
  if (!(typeof token === 'string' ? token : (token as BoundToken | undefined)?.text)) {
    throw new TypeError('A bearer gave an empty token');
  }
}

/** A token that is bound to a key, with the proof of it (RFC 9449, section 7.1). */
function proving(headers: HeaderValues, token: BoundToken, method: string, url: string): HeaderValues {
  const presenting = owning(headers, AUTHORIZATION, `DPoP ${token.text}`);
  return owning(presenting, DPOP, token.proof(method, url));
}

function owning(headers: HeaderValues, owned: string, value: string): HeaderValues {
  const out: Record<string, string> = { ...headers, [owned]: value };
  for (const name in headers) {
    if (name.length !== owned.length || name === owned) continue;
    if (name.toLowerCase() === owned) Reflect.deleteProperty(out, name);
  }
  return out;
}

/** The token of this moment. Rejects as the bearer does, or with the signal's reason as soon as it aborts. */
export async function tokenOf(bearer: Bearer, signal: Cancellation): Promise<Token> {
  if (signal.aborted) throw abortReason(signal);
  const asked = bearer.token();
  const token = asked instanceof Promise ? await unlessAborted(asked, signal) : asked;
  refuseEmpty(token);
  return token;
}

/** Sends with the token of this moment, where there is a bearer. */
export async function sendPresenting(
  send: Send,
  request: SendRequest,
  bearer: Bearer | undefined,
): Promise<SendReply> {
  if (!bearer) return send(request);
  const token = await tokenOf(bearer, request.signal);
  if (request.signal.aborted) throw abortReason(request.signal);
  return sendWith(send, request, token);
}

/** With this very token; a second time where a server wants something repeated in the proof: it has run nothing then. */
export async function sendWith(send: Send, request: SendRequest, token: Token): Promise<SendReply> {
  const { method, url } = request;
  const presenting = () => ({ ...request, headers: bearing(request.headers, token, method, url) });
  const first = presenting();
  const reply = await send(first);
  if (typeof token === 'string') return reply;
  if (!wantsAnother(token, url, first.headers, reply.status, (name) => reply.header(name))) return reply;
  void reply.discard();
  const again = presenting();
  const second = await send(again);
  token.heard(url, second.header(NONCE), proofIn(again.headers));
  return second;
}

/** The same over WHATWG fetch. `init.headers` are plain. */
export async function fetchWith(
  fetch: Fetch,
  url: string | URL,
  init: RequestInit & { headers: HeaderValues },
  token: Token,
): Promise<Response> {
  const [method, place] = [init.method ?? 'GET', String(url)];
  const presenting = () => ({ ...init, headers: bearing(init.headers, token, method, place) });
  const first = presenting();
  const response = await fetch(url, first);
  if (typeof token === 'string') return response;
  const header = (name: string) => response.headers.get(name) ?? undefined;
  if (!wantsAnother(token, place, first.headers, response.status, header)) return response;
  await response.body?.cancel().catch(() => undefined);
  const again = presenting();
  const second = await fetch(url, again);
  token.heard(place, second.headers.get(NONCE) ?? undefined, proofIn(again.headers));
  return second;
}

const NONCE = 'dpop-nonce';

function proofIn(headers: HeaderValues): string {
  return headers[DPOP] ?? '';
}

/** RFC 9449, section 9. A nonce that was in the proof is not what is missing. */
function wantsAnother(
  token: BoundToken,
  url: string,
  sent: HeaderValues,
  status: number,
  header: (name: string) => string | undefined,
): boolean {
  const isAnother = token.heard(url, header(NONCE), proofIn(sent));
  return isAnother && status === 401 && header('www-authenticate')?.includes('use_dpop_nonce') === true;
}

/** As plain values: WHATWG's own errors repeat a value that they refuse, and the door out does not. */
export function plainHeaders(headers: RequestInit['headers']): HeaderValues {
  return Object.fromEntries(new Headers(headers));
}
