import { parseUrl } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { Era } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { readChallenge } from './challenge.ts';
import { answeredError, isObject } from './readAnswer.ts';

/** Nobody is told to wait longer, whatever an MCP server says. */
const LONGEST_WAIT_MS = 60_000;
/** A name has 253 characters at most (RFC 1035, section 2.3.4), then a port. */
const LONGEST_HOST = 259;

/** An answer that is not 2xx. */
export interface Refusal {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body, where it can decide something. */
  readonly text: string;
}

/** Which request it answers. */
export interface Refused {
  /** Where it was sent. */
  readonly url: string;
  readonly era: Era;
  readonly id: number | undefined;
  /** It carried a session. */
  readonly session: boolean;
  readonly clock: Clock;
}

/** Only these statuses mean different things with different bodies. */
export function bodyDecides(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
}

export function classifyStatus(refusal: Refusal, { url, era, id, session, clock }: Refused): UpstreamError {
  const { status } = refusal;
  if (status === 401 || status === 403) {
    const challenge = readChallenge(refusal.header('www-authenticate'));
    const scope = status === 403 && challenge?.error === 'insufficient_scope';
    const reason = status === 401 ? 'unauthorized' : scope ? 'insufficient_scope' : 'forbidden';
    return new UpstreamError(reason, { status, ...(challenge && { challenge }) });
  }
  if (status === 429) {
    const retryAfterMs = readRetryAfter(refusal.header('retry-after'), clock, LONGEST_WAIT_MS);
    return new UpstreamError('rate_limited', { status, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
  if (status >= 500) return new UpstreamError('upstream_5xx', { status });
  if (status < 300) return new UpstreamError('garbage', { status });
  if (status < 400) {
    const redirectedTo = hostOf(refusal.header('location'), url);
    return new UpstreamError('redirected', { status, ...(redirectedTo !== undefined && { redirectedTo }) });
  }

  const body = errorBody(refusal.text);
  const answered =
    body && id !== undefined && body.id === id ? answeredError(body.error, era, status) : undefined;
  const unsaid = answered === undefined || answered.reason === 'garbage';
  // An error with the id of this request is its answer, whatever the status: it was read, and it may have run.
  const lost =
    status === 404 ? unsaid || isSessionCode(body?.error) : status === 400 && isSessionCode(body?.error);
  if (session && lost) {
    return new UpstreamError('session_lost', { status, ...(!unsaid && { cause: answered }) });
  }
  if (!unsaid) return answered;
  // A modern server may not be able to read the id of what it refuses.
  if (body && era === 'modern') {
    const general = answeredError(body.error, era, status);
    if (general.reason === 'header_mismatch') return general;
  }
  return new UpstreamError(status === 404 || status === 405 ? 'wrong_url' : 'bad_request', { status });
}

/**
 * Servers that do not answer an unknown session with a bare 404 answer 400 or 404 and one of these codes. Others use
 * them for other things, so that whoever gets this asks the session itself before anything is sent again.
 */
export function isSessionCode(error: unknown): boolean {
  return isObject(error) && (error['code'] === -32000 || error['code'] === -32001);
}

function errorBody(text: string): { readonly id: unknown; readonly error: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && value['error'] !== undefined
      ? { id: value['id'], error: value['error'] }
      : undefined;
  } catch {
    return undefined;
  }
}

/** A host of a parsed URL holds no character that could write anything else into a message. */
function hostOf(location: string | undefined, base: string): string | undefined {
  const { host = '' } = (location !== undefined && parseUrl(location, base)) || {};
  return host !== '' && host.length <= LONGEST_HOST ? host : undefined;
}

/** Seconds or a date (RFC 9110, section 10.2.3), and never more than `longestMs`. */
export function readRetryAfter(
  header: string | undefined,
  clock: Clock,
  longestMs: number,
): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const wait = /^\d{1,10}$/.test(text)
    ? Number(text) * 1_000
    : // It reads the server's date; the time of day is the clock's.
      // eslint-disable-next-line no-restricted-globals
      Date.parse(text.slice(0, 64)) - clock.now();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, wait), longestMs);
}
