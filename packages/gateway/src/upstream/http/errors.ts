import { parseUrl } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { classifyRpcError, isObject } from '../messages.ts';
import type { Era } from '../upstream.ts';
import {
  type Challenge,
  type ReadNetworkError,
  UpstreamError,
  type UpstreamReason,
} from '../upstreamError.ts';

/** Nobody is told to wait longer, whatever an MCP server says. */
const MAX_RETRY_AFTER_MS = 60_000;
/** A name has 253 characters at most (RFC 1035, section 2.3.4), then a port. */
const MAX_HOST_LENGTH = 259;

/** An answer that is not 2xx. */
interface HttpErrorResponse {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body, where it can decide something. */
  readonly text: string;
}

/** Which request it answers. */
export interface FailedRequest {
  /** Where it was sent. */
  readonly url: string;
  readonly era: Era;
  readonly id: number | undefined;
  /** It carried a session. */
  readonly hasSession: boolean;
  readonly clock: Clock;
}

/** Only these statuses mean different things with different bodies. */
export function isBodyRequired(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
}

export function classifyStatus(
  response: HttpErrorResponse,
  { url, era, id, hasSession, clock }: FailedRequest,
): UpstreamError {
  const { status } = response;
  if (status === 401 || status === 403) {
    const challenge = readChallenge(response.header('www-authenticate'));
    const isScopeMissing = status === 403 && challenge?.error === 'insufficient_scope';
    const reason = status === 401 ? 'unauthorized' : isScopeMissing ? 'insufficient_scope' : 'forbidden';
    return new UpstreamError(reason, { status, ...(challenge && { challenge }) });
  }
  if (status === 429) {
    const retryAfterMs = readRetryAfter(response.header('retry-after'), clock, MAX_RETRY_AFTER_MS);
    return new UpstreamError('rate_limited', { status, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
  if (status >= 500) return new UpstreamError('upstream_5xx', { status });
  if (status < 300) return new UpstreamError('invalid_response', { status });
  if (status < 400) {
    const redirectedTo = readRedirectHost(response.header('location'), url);
    return new UpstreamError('redirected', { status, ...(redirectedTo !== undefined && { redirectedTo }) });
  }

  const body = parseErrorBody(response.text);
  const rpcError =
    body && id !== undefined && body.id === id ? classifyRpcError(body.error, era, status) : undefined;
  const hasNoRpcError = rpcError === undefined || rpcError.reason === 'invalid_response';
  // An error with the id of this request is its answer, whatever the status: it was read, and it may have run.
  const isLost =
    status === 404
      ? hasNoRpcError || isSessionErrorCode(body?.error)
      : status === 400 && isSessionErrorCode(body?.error);
  if (hasSession && isLost) {
    return new UpstreamError('session_lost', { status, ...(!hasNoRpcError && { cause: rpcError }) });
  }
  if (!hasNoRpcError) return rpcError;
  // A modern server may not be able to read the id of what it refuses.
  if (body && era === 'modern') {
    const general = classifyRpcError(body.error, era, status);
    if (general.reason === 'header_mismatch') return general;
  }
  return new UpstreamError(status === 404 || status === 405 ? 'wrong_url' : 'bad_request', { status });
}

/**
 * Servers that do not answer an unknown session with a bare 404 answer 400 or 404 and one of these codes. Others use
 * them for other things, so that whoever gets this asks the session itself before anything is sent again.
 */
export function isSessionErrorCode(error: unknown): boolean {
  return isObject(error) && (error['code'] === -32000 || error['code'] === -32001);
}

function parseErrorBody(text: string): { readonly id: unknown; readonly error: unknown } | undefined {
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
function readRedirectHost(location: string | undefined, base: string): string | undefined {
  const { host = '' } = (location !== undefined && parseUrl(location, base)) || {};
  return host !== '' && host.length <= MAX_HOST_LENGTH ? host : undefined;
}

/** Seconds or a date (RFC 9110, section 10.2.3), and never more than `maxMs`. */
export function readRetryAfter(header: string | undefined, clock: Clock, maxMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const waitMs = /^\d{1,10}$/.test(text)
    ? Number(text) * 1_000
    : // It reads the server's date; the time of day is the clock's.
      // eslint-disable-next-line no-restricted-globals
      Date.parse(text.slice(0, 64)) - clock.now();
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, waitMs), maxMs);
}

/** More than any honest server sends; what lies behind it is not read. */
const MAX_HEADER_LENGTH = 8_192;
const TOKEN_CHARACTER = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;

interface ParsedChallenge {
  readonly scheme: string;
  readonly parameters: Map<string, string>;
}

/**
 * The challenge of a 401 or 403 (RFC 9110, section 11.6.1): the first Bearer one, else the first. The server wrote it,
 * so it is read in one pass without backtracking, and whatever makes no sense is stepped over.
 */
export function readChallenge(header: string | undefined): Challenge | undefined {
  if (header === undefined) return undefined;
  const challenges = parseChallenges(header.slice(0, MAX_HEADER_LENGTH));
  const chosen = challenges.find(({ scheme }) => scheme === 'bearer') ?? challenges[0];
  if (!chosen) return undefined;
  const { scheme, parameters } = chosen;
  return {
    scheme,
    error: parameters.get('error'),
    scope: parameters.get('scope'),
    resourceMetadata: parameters.get('resource_metadata'),
    claims: parameters.get('claims'),
  };
}

function parseChallenges(text: string): ParsedChallenge[] {
  const challenges: ParsedChallenge[] = [];
  let position = 0;

  function readToken(): string {
    const start = position;
    while (position < text.length && TOKEN_CHARACTER.test(text.charAt(position))) position += 1;
    return text.slice(start, position);
  }

  function skipBlanks(): void {
    while (text.charAt(position) === ' ' || text.charAt(position) === '\t') position += 1;
  }

  function readQuoted(): string {
    let value = '';
    for (position += 1; position < text.length && text.charAt(position) !== '"'; position += 1) {
      if (text.charAt(position) === '\\') position += 1;
      value += text.charAt(position);
    }
    position += 1;
    return value;
  }

  while (position < text.length) {
    const name = readToken().toLowerCase();
    if (name === '') {
      // A comma, a blank, or something that has no business here.
      position += 1;
      continue;
    }
    skipBlanks();
    const current = challenges.at(-1);
    if (text.charAt(position) !== '=' || !current) {
      challenges.push({ scheme: name, parameters: new Map() });
      continue;
    }
    position += 1;
    skipBlanks();
    const value = text.charAt(position) === '"' ? readQuoted() : readToken();
    // A parameter stands once (section 11.2); a second one must not replace what was read.
    if (!current.parameters.has(name)) current.parameters.set(name, value);
  }
  return challenges;
}

/** What became of a request whose answer did not come in. An error that nobody knows may have come after sending. */
export function classifyNetworkError(error: unknown, readError: ReadNetworkError): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const networkError = readError(error);
  const reason: UpstreamReason = !networkError
    ? 'reset'
    : networkError.requestSent
      ? (afterSending[networkError.code] ?? 'reset')
      : (beforeSending[networkError.code] ?? 'connect_failed');
  return new UpstreamError(reason, { cause: error });
}

const beforeSending: Readonly<Record<string, UpstreamReason>> = {
  MCP_DOMAIN_NOT_ALLOWED: 'not_allowed',
  MCP_TIMEOUT: 'connect_timeout',
  // A header or a body that HTTP cannot carry.
  MCP_PROTOCOL_ERROR: 'bad_request',
};

const afterSending: Readonly<Record<string, UpstreamReason>> = {
  // A redirect to where nothing may go; a redirect is no run.
  MCP_DOMAIN_NOT_ALLOWED: 'not_allowed',
  MCP_TIMEOUT: 'timeout',
  MCP_RESPONSE_TOO_LARGE: 'too_large',
  MCP_PROTOCOL_ERROR: 'invalid_response',
};

export function isSessionLost(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.reason === 'session_lost';
}

/** 404 that is no answer to this very request says it: the session is not known there (MCP, "Session Management"). */
export function isUnambiguousLoss({ detail }: UpstreamError): boolean {
  return detail.status === 404 && detail.cause === undefined;
}

/** A refusal of the request itself, which a new session does not change. */
export function toRequestError({ detail }: UpstreamError): UpstreamError {
  return detail.cause instanceof UpstreamError ? detail.cause : new UpstreamError('bad_request', detail);
}
