import { parseUrl } from '@behalf/contracts';
import { type Clock, isObject } from '@behalf/kernel';
import { classifyRpcError } from '../messages.ts';
import type { Era } from '../upstream.ts';
import {
  type Challenge,
  type ReadNetworkError,
  UpstreamError,
  type UpstreamReason,
} from '../upstreamError.ts';

/** Upper limit for the `Retry-After` of an MCP server. */
const MAX_RETRY_AFTER_MS = 60_000;
/** A host name has at most 253 characters (RFC 1035, section 2.3.4), plus a port. */
const MAX_HOST_LENGTH = 259;

/** A response that is not 2xx. */
interface HttpErrorResponse {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body, if `isBodyRequired`. */
  readonly text: string;
}

interface FailedRequest {
  readonly url: string;
  readonly era: Era;
  readonly id: number | undefined;
  /** Whether the request had a session id. */
  readonly hasSession: boolean;
  readonly clock: Clock;
}

/** Whether the meaning of the status depends on the body. */
export function isBodyRequired(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
}

/** Whether a request for a stream may succeed later. */
export function isTemporaryStatus(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Classifies a WHATWG response. `text` is its body, if `isBodyRequired`. */
export function classifyResponse(
  { status, headers }: Response,
  text: string,
  request: FailedRequest,
): UpstreamError {
  return classifyStatus({ status, header: (name) => headers.get(name) ?? undefined, text }, request);
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
  const hasRpcError = rpcError !== undefined && rpcError.reason !== 'invalid_response';
  // A JSON-RPC error with the id of this request is its response, whatever the status. The request may have run.
  const isLost =
    status === 404
      ? !hasRpcError || isSessionErrorCode(body?.error)
      : status === 400 && isSessionErrorCode(body?.error);
  if (hasSession && isLost) {
    return new UpstreamError('session_lost', { status, ...(hasRpcError && { cause: rpcError }) });
  }
  if (hasRpcError) return rpcError;
  // A modern server may reject a request before it has read the request id.
  if (body && era === 'modern') {
    const general = classifyRpcError(body.error, era, status);
    if (general.reason === 'header_mismatch') return general;
  }
  return new UpstreamError(status === 404 || status === 405 ? 'wrong_url' : 'bad_request', { status });
}

/**
 * Codes that servers return with 400 or 404 for an unknown session. Other servers use these codes for other errors, so
 * the session must be probed before the request is sent again.
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

/** The host of a parsed URL contains no characters that could alter a message. */
function readRedirectHost(location: string | undefined, base: string): string | undefined {
  const { host = '' } = (location !== undefined && parseUrl(location, base)) || {};
  return host !== '' && host.length <= MAX_HOST_LENGTH ? host : undefined;
}

/** Reads seconds or a date (RFC 9110, section 10.2.3). Returns at most `maxMs`. */
export function readRetryAfter(header: string | undefined, clock: Clock, maxMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const waitMs = /^\d{1,10}$/.test(text)
    ? Number(text) * 1_000
    : // Parses the date of the server. The current time still comes from the clock.
      // eslint-disable-next-line no-restricted-globals
      Date.parse(text.slice(0, 64)) - clock.now();
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, waitMs), maxMs);
}

/** The rest of a longer header is ignored. */
const MAX_HEADER_LENGTH = 8_192;
const TOKEN_CHARACTER = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;

interface ParsedChallenge {
  readonly scheme: string;
  readonly parameters: Map<string, string>;
}

/**
 * Reads the challenge of a 401 or 403 (RFC 9110, section 11.6.1): the first Bearer challenge, or else the first one. The
 * header is untrusted: the parser makes one pass without backtracking and skips invalid parts.
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
      // A comma, white space or an invalid character.
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
    // A parameter occurs only once (RFC 9110, section 11.2). Ignore repetitions.
    if (!current.parameters.has(name)) current.parameters.set(name, value);
  }
  return challenges;
}

/** Classifies a network error. An unknown error may have occurred after the request was sent. */
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
  // A header or the body is not valid in HTTP, so nothing was sent.
  MCP_PROTOCOL_ERROR: 'bad_request',
};

const afterSending: Readonly<Record<string, UpstreamReason>> = {
  // A redirect to a forbidden address. A redirected request did not run.
  MCP_DOMAIN_NOT_ALLOWED: 'not_allowed',
  MCP_TIMEOUT: 'timeout',
  MCP_RESPONSE_TOO_LARGE: 'too_large',
  MCP_PROTOCOL_ERROR: 'invalid_response',
};

export function isSessionLost(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.reason === 'session_lost';
}

/** A 404 that is not a response to the request itself means an unknown session (MCP 2025-11-25, session management). */
export function isUnambiguousLoss({ detail }: UpstreamError): boolean {
  return detail.status === 404 && detail.cause === undefined;
}

/** The request itself was rejected. A new session would not help. */
export function toRequestError({ detail }: UpstreamError): UpstreamError {
  return detail.cause instanceof UpstreamError ? detail.cause : new UpstreamError('bad_request', detail);
}
