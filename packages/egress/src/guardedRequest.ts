import { hopHeader, parseUrl, reservedHeaders } from '@behalf/contracts';
import type { Cancellation, Clock, Keyring, SealContext } from '@behalf/kernel';
import { EgressResponse } from './egressResponse.ts';
import { EgressError } from './errors.ts';
import { HttpExchange, type Limits, type Timeouts, bodyTooLarge } from './httpExchange.ts';
import type { PoolScope, Pools } from './pools.ts';
import { type Destination, readDestination } from './target.ts';

const MAX_REDIRECTS = 5;

interface GuardedRequestOptions {
  /** Scope with the exemptions of the audience, for requests to the original origin. */
  scope: PoolScope;
  /** Scope without exemptions, for redirects to another origin. */
  redirectScope: PoolScope;
  redirects: 'follow' | 'refuse';
  /** The number of gateways that already forwarded this call. */
  hop: number;
  timeouts: Timeouts;
  limits: Limits;
}

interface GuardedRequestParts {
  pools: Pools;
  hopCounter: HopCounter;
  clock: Clock;
}

interface OutboundRequest {
  readonly destination: Destination;
  readonly method: string;
  /**
   * Alternating names and values, without reserved headers. This function takes ownership and appends the gateway's
   * headers.
   */
  readonly headers: string[];
  /** The hop header of the inbound request, if the caller passed it through. */
  readonly hop: string | undefined;
  readonly body: string | Uint8Array | null;
  readonly signal: Cancellation | null | undefined;
  readonly redirect: 'follow' | 'error' | 'manual';
}

export interface InboundResponse {
  readonly response: EgressResponse;
  readonly finalDestination: Destination;
  readonly isRedirected: boolean;
  /** True if HTTP defines no body for this method or status. */
  readonly hasNoBody: boolean;
}

export type GuardedRequest = (request: OutboundRequest) => Promise<InboundResponse>;

/**
 * Sends all outgoing requests: hop count, the gateway's headers, redirects and limits. `createGuardedFetch` and
 * `createGuardedSend` are two interfaces to it.
 */
export function createGuardedRequest(
  parts: GuardedRequestParts,
  options: GuardedRequestOptions,
): GuardedRequest {
  const { pools, hopCounter, clock } = parts;
  const { timeouts, limits } = options;

  return async ({ destination, method, headers, hop: inboundHop, body, signal, redirect }) => {
    const redirectMode = options.redirects === 'refuse' ? 'error' : redirect;
    const hop = Math.max(options.hop, hopCounter.read(inboundHop)) + 1;
    if (hop > MAX_HOPS) throw new EgressError('hop_limit', destination.host);
    const gatewayHeaders = ['accept-encoding', 'identity', HOP_HEADER, hopCounter.write(hop)] as const;
    let sentHeaders = headers;
    headers.push(...gatewayHeaders);
    let current = destination;
    let scope = options.scope;

    const exchange = new HttpExchange(clock, timeouts, signal);
    exchange.throwIfFailed();
    for (let redirectCount = 0; ; redirectCount += 1) {
      const response = dispatch(exchange, scope, current, method, sentHeaders, body);
      await response.headReceived;
      const { location, status } = response;
      if (
        location === undefined ||
        redirectMode === 'manual' ||
        (redirectMode === 'follow' && !keepsMethod(status))
      ) {
        return accept(exchange, response, current, redirectCount > 0, method);
      }
      try {
        await response.discard();
        exchange.throwIfFailed();
        const redirectTarget = followRedirect(
          current,
          location,
          redirectMode === 'error' ? -1 : MAX_REDIRECTS - redirectCount,
        );
        if (redirectTarget.origin !== current.origin) {
          // Permanent for this request: a redirect back to the first origin must not restore its headers and
          // exemptions.
          sentHeaders = [...filterSafeHeaders(headers), ...gatewayHeaders];
          scope = options.redirectScope;
        }
        current = redirectTarget;
      } catch (error) {
        exchange.end();
        throw error;
      }
    }
  };

  function dispatch(
    exchange: HttpExchange,
    scope: PoolScope,
    destination: Destination,
    method: string,
    headers: string[],
    body: string | Uint8Array | null,
  ): EgressResponse {
    const entry = pools.acquire(scope, destination);
    const response = new EgressResponse(destination.host, exchange, limits, clock, () =>
      pools.release(entry),
    );
    exchange.awaitHeaders(destination.host, response);
    entry.pool.dispatch({ path: destination.path, method, headers, body }, response);
    return response;
  }

  function accept(
    exchange: HttpExchange,
    response: EgressResponse,
    finalDestination: Destination,
    isRedirected: boolean,
    method: string,
  ): InboundResponse {
    response.accept();
    const { status } = response;
    const hasNoBody = method === 'HEAD' || status === 204 || status === 205 || status === 304;
    if (hasNoBody) void response.discard();
    else {
      const error = findUnreadable(finalDestination.host, response);
      if (error) {
        exchange.fail(error);
        throw error;
      }
    }
    return { response, finalDestination, isRedirected, hasNoBody };
  }

  /** Rejects a response by its headers, before its body is read. */
  function findUnreadable(host: string, response: EgressResponse): EgressError | undefined {
    const encoding = response.header('content-encoding')?.trim().toLowerCase() ?? '';
    if (encoding !== '' && encoding !== 'identity') {
      return new EgressError('encoded_response', host, { requestSent: true });
    }
    const length = Number(response.header('content-length') ?? 0);
    return !response.isEventStreamBody && length > limits.bodyBytes
      ? bodyTooLarge(host, limits.bodyBytes)
      : undefined;
  }
}

/** Returns the redirect target after the same URL checks as for the first URL. */
function followRedirect(
  { url, host }: Destination,
  location: string,
  remainingRedirects: number,
): Destination {
  if (remainingRedirects <= 0) {
    throw new EgressError(remainingRedirects === 0 ? 'too_many_redirects' : 'redirect_refused', host, {
      requestSent: true,
    });
  }
  if (!parseUrl(location, url.href)) throw new EgressError('bad_url', host, { requestSent: true });
  return readDestination(new URL(location, url));
}

/** 301 to 303 may turn a POST into a GET, so the requested operation would silently not run. */
function keepsMethod(status: number): boolean {
  return status === 307 || status === 308;
}

/**
 * The headers that another origin still receives after a redirect. An allow-list, because any other header may
 * carry a credential.
 */
const SAFE_HEADERS = new Set([
  'accept',
  'content-type',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'user-agent',
]);

interface RequestHeaders {
  /** Alternating names and values, the form that the HTTP client uses without copying. */
  readonly flatHeaders: string[];
  /** The hop header of the inbound request, if the caller passed it through. */
  readonly hop: string | undefined;
  readonly hasContentType: boolean;
}

export function readRequestHeaders(host: string, init: RequestInit['headers']): RequestHeaders {
  const flatHeaders: string[] = [];
  let hop: string | undefined;
  let hasContentType = false;
  for (const [name, value] of validateHeaders(host, init)) {
    if (name === HOP_HEADER) hop = value;
    if (reservedHeaders.has(name)) continue;
    if (name === 'content-type') hasContentType = true;
    flatHeaders.push(name, value);
  }
  return { flatHeaders, hop, hasContentType };
}

function filterSafeHeaders(flatHeaders: readonly string[]): string[] {
  const safe: string[] = [];
  for (let i = 0; i + 1 < flatHeaders.length; i += 2) {
    const name = flatHeaders[i] ?? '';
    if (SAFE_HEADERS.has(name)) safe.push(name, flatHeaders[i + 1] ?? '');
  }
  return safe;
}

/** Lower-case names; values without CR, LF and NUL. */
function validateHeaders(host: string, init: RequestInit['headers']): Iterable<[string, string]> {
  if (init === undefined) return [];
  if (init instanceof Headers) return init;
  try {
    return new Headers(init);
  } catch {
    // The platform's message repeats the value, which may be a credential.
    throw new EgressError('bad_request', host);
  }
}

/** Counts the gateways that forwarded a call, so that gateways that point at each other fail instead of looping. */
export const HOP_HEADER = hopHeader;

/** A gateway behind a gateway is a valid setup. Three in a row are treated as a loop. */
const MAX_HOPS = 2;

export interface HopCounter {
  /** The count of an inbound request: 0 without the header, MAX_HOPS if the value is not valid. */
  read(value: string | readonly string[] | null | undefined): number;
  write(count: number): string;
}

const HOP_CONTEXT: SealContext = { tenant: '-', principal: '-', server: '-', kind: 'hop', field: 'count' };

/**
 * The value contains the count twice: in plain text and encrypted. Replicas with the same keys trust the encrypted
 * count, which a gateway in between can remove but not lower. A gateway with other keys cannot decrypt it
 * and uses the plain count. Without the plain count, a loop across two deployments would restart at each of them. A
 * forged plain count only shortens the forger's own chain. An invalid value counts as the limit.
 */
export function createHopCounter(keyring: Keyring): HopCounter {
  // Encrypting the same few values for each request would cost more than parsing the request.
  const encodedCounts = new Map<number, string>();

  return {
    read(value) {
      if (value === undefined || value === null) return 0;
      if (typeof value !== 'string') return value.length === 0 ? 0 : MAX_HOPS;
      const [, claimedCount, envelope = ''] = /^([0-9]);([A-Za-z0-9._-]{1,200})$/.exec(value) ?? [];
      if (claimedCount === undefined) return MAX_HOPS;
      // The header proves at least one hop, whatever its value.
      return Math.max(1, Number(claimedCount), unsealCount(keyring, envelope));
    },
    write(count) {
      let value = encodedCounts.get(count);
      if (value === undefined) {
        value = `${count};${keyring.seal(String(count), HOP_CONTEXT)}`;
        encodedCounts.set(count, value);
      }
      return value;
    },
  };
}

function unsealCount(keyring: Keyring, envelope: string): number {
  try {
    const count = Number(keyring.open(envelope, HOP_CONTEXT));
    return Number.isInteger(count) ? count : MAX_HOPS;
  } catch {
    return 0;
  }
}
