import { hopHeader, parseUrl, reservedHeaders } from '@behalf/contracts';
import type { Cancellation, Clock, Keyring, SealContext } from '@behalf/kernel';
import { EgressResponse } from './egressResponse.ts';
import { EgressError } from './errors.ts';
import { HttpExchange, type Limits, type Timeouts, bodyTooLarge } from './httpExchange.ts';
import type { PoolScope, Pools } from './pools.ts';
import { type Destination, readDestination } from './target.ts';

const MAX_REDIRECTS = 5;

interface GuardedRequestOptions {
  /** Sockets judged with the exemptions of the audience: for the URL that was asked for, within its origin. */
  scope: PoolScope;
  /** Sockets judged without any: wherever a redirect to another origin leads. */
  redirectScope: PoolScope;
  redirects: 'follow' | 'refuse';
  /** Gateways that forwarded the call before us. */
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
  /** Name, value, name, value: without reserved ones. Taken over: ours are added to it. */
  readonly headers: string[];
  /** The inbound hop header, when the caller passed it through. */
  readonly hop: string | undefined;
  readonly body: string | Uint8Array | null;
  readonly signal: Cancellation | null | undefined;
  readonly redirect: 'follow' | 'error' | 'manual';
}

export interface InboundResponse {
  readonly response: EgressResponse;
  readonly finalDestination: Destination;
  readonly isRedirected: boolean;
  /** True when HTTP gives this answer no body. */
  readonly hasNoBody: boolean;
}

export type GuardedRequest = (request: OutboundRequest) => Promise<InboundResponse>;

/** The one way a request goes out: hop count, headers of ours, redirects, limits. Fetch and send are its two faces. */
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
          // For good: a detour over another origin must not win back what the first one was trusted with.
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

  /** What can be refused on the headers alone is not read first. */
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

/** The next URL, held to the same form as the first. `left` counts how many more may be followed. */
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

/** 301 to 303 may turn a POST into a GET: what the caller asked for would silently not happen. */
function keepsMethod(status: number): boolean {
  return status === 307 || status === 308;
}

/**
 * What another origin may still see after a redirect: the shape of the message, which the body shows anyway. An
 * allow-list, because any configured or per-call header may be a credential under a name we do not know.
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
  /** Name, value, name, value: the form the HTTP client takes without another copy. */
  readonly flatHeaders: string[];
  /** The inbound hop header, when the caller passed it through. */
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

/** Lower-case names, values without CR, LF or NUL. */
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

/** Counts how many gateways in a row forwarded a call, so that servers that point at each other end in an error. */
export const HOP_HEADER = hopHeader;

/** The third hop is refused: a gateway behind a gateway is a set-up, three in a row are a loop. */
const MAX_HOPS = 2;

export interface HopCounter {
  /** The count an inbound request carries: 0 without the header, MAX_HOPS when it cannot be understood. */
  read(value: string | readonly string[] | null | undefined): number;
  /** The header value of an outgoing request. */
  write(count: number): string;
}

const HOP_CONTEXT: SealContext = { tenant: '-', principal: '-', server: '-', kind: 'hop', field: 'count' };

/**
 * The value is the count in the clear, then the count sealed. The seal is what replicas with our keys believe:
 * nobody between them can lower it short of dropping the header. A gateway with other keys cannot open it and counts
 * with the clear number; without that, a loop over two deployments would start again at each of them. A forged clear
 * number can only shorten the forger's own chain, and a value that makes no sense counts as the limit.
 */
export function createHopCounter(keyring: Keyring): HopCounter {
  // The same few values go out with every request: sealing each time would cost more than the request's parsing.
  const encodedCounts = new Map<number, string>();

  return {
    read(value) {
      if (value === undefined || value === null) return 0;
      if (typeof value !== 'string') return value.length === 0 ? 0 : MAX_HOPS;
      const [, claimedCount, envelope = ''] = /^([0-9]);([A-Za-z0-9._-]{1,200})$/.exec(value) ?? [];
      if (claimedCount === undefined) return MAX_HOPS;
      // A request that another gateway forwarded has at least one hop behind it, whatever it claims.
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
