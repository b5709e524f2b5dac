import { abortReason, unlessAborted, type Cancellation } from '@behalf/kernel';
import type { Bearer } from './target.ts';
import type { HeaderValues } from './upstream.ts';

/** What a caller presents: headers as they stand, and a token that is asked for when something is sent. */
export interface Presented {
  readonly headers?: HeaderValues | undefined;
  readonly bearer?: Bearer | undefined;
}

const AUTHORIZATION = 'authorization';

/**
 * The headers of one request with the token of this moment, for this request alone. It is the only Authorization that
 * goes out: what else stands there under that name, in whatever letter case, is another's or an old one.
 */
export function bearing(headers: HeaderValues, token: string): HeaderValues {
  // A source that has none must say so. Nothing is sent on the strength of its silence.
  if (!token) throw new TypeError('A bearer gave an empty token');
  const out: Record<string, string> = { ...headers, [AUTHORIZATION]: `Bearer ${token}` };
  for (const name in headers) {
    if (name.length !== AUTHORIZATION.length || name === AUTHORIZATION) continue;
    if (name.toLowerCase() === AUTHORIZATION) Reflect.deleteProperty(out, name);
  }
  return out;
}

/** The same where time does not count. Rejects as the bearer does, or with the signal's reason as soon as it aborts. */
export async function withToken(
  headers: HeaderValues,
  bearer: Bearer | undefined,
  signal: Cancellation,
): Promise<HeaderValues> {
  if (!bearer) return headers;
  if (signal.aborted) throw abortReason(signal);
  const asked = bearer.token();
  return bearing(headers, typeof asked === 'string' ? asked : await unlessAborted(asked, signal));
}

/** As plain values: WHATWG's own errors repeat a value that they refuse, and the door out does not. */
export function plainHeaders(headers: RequestInit['headers']): HeaderValues {
  return Object.fromEntries(new Headers(headers));
}
