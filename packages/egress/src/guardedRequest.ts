import { parseUrl } from '@behalf/contracts';
import type { Cancellation, Clock } from '@behalf/kernel';
import { EgressResponse } from './egressResponse.ts';
import { bodyTooLarge } from './bodyGuard.ts';
import { readDestination, type Destination } from './destination.ts';
import { EgressError } from './errors.ts';
import { HttpExchange } from './httpExchange.ts';
import { HOP_HEADER, MAX_HOPS, type HopCounter } from './hop.ts';
import type { Limits, Timeouts } from './limits.ts';
import type { Pools, PoolScope } from './pools.ts';
import { filterSafeHeaders } from './requestHeaders.ts';

const MAX_REDIRECTS = 5;

export interface GuardedRequestOptions {
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

export interface GuardedRequestParts {
  pools: Pools;
  hopCounter: HopCounter;
  clock: Clock;
}

export interface OutboundRequest {
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
