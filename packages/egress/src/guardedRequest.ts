import { parseUrl } from '@behalf/contracts';
import type { Cancellation, Clock } from '@behalf/kernel';
import { Answer } from './answer.ts';
import { tooLarge } from './bodyGuard.ts';
import { readDestination, type Destination } from './destination.ts';
import { EgressError } from './errors.ts';
import { Exchange } from './exchange.ts';
import { HOP_HEADER, MAX_HOPS, type Hops } from './hop.ts';
import type { Limits, Timeouts } from './limits.ts';
import type { Pools, PoolScope } from './pools.ts';
import { safeAcrossOrigins } from './requestHeaders.ts';

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

export interface RequestParts {
  pools: Pools;
  hops: Hops;
  clock: Clock;
}

export interface Outgoing {
  readonly to: Destination;
  readonly method: string;
  /** Name, value, name, value: without reserved ones. Taken over: ours are added to it. */
  readonly headers: string[];
  /** The inbound hop header, when the caller passed it through. */
  readonly hop: string | undefined;
  readonly body: string | Uint8Array | null;
  readonly signal: Cancellation | null | undefined;
  readonly redirect: 'follow' | 'error' | 'manual';
}

export interface Incoming {
  readonly answer: Answer;
  readonly from: Destination;
  readonly redirected: boolean;
  /** True when HTTP gives this answer no body. */
  readonly bodiless: boolean;
}

export type GuardedRequest = (request: Outgoing) => Promise<Incoming>;

/** The one way a request goes out: hop count, headers of ours, redirects, limits. Fetch and send are its two faces. */
export function createGuardedRequest(parts: RequestParts, options: GuardedRequestOptions): GuardedRequest {
  const { pools, hops, clock } = parts;
  const { timeouts, limits } = options;

  return async ({ to, method, headers, hop: inbound, body, signal, redirect }) => {
    const mode = options.redirects === 'refuse' ? 'error' : redirect;
    const hop = Math.max(options.hop, hops.read(inbound)) + 1;
    if (hop > MAX_HOPS) throw new EgressError('hop_limit', to.host);
    const own = ['accept-encoding', 'identity', HOP_HEADER, hops.write(hop)] as const;
    let sent = headers;
    headers.push(...own);
    let from = to;
    let scope = options.scope;

    const exchange = new Exchange(clock, timeouts, signal);
    exchange.throwIfFailed();
    for (let followed = 0; ; followed += 1) {
      const answer = dispatch(exchange, scope, from, method, sent, body);
      await answer.head;
      const { location, status } = answer;
      if (location === undefined || mode === 'manual' || (mode === 'follow' && !keepsMethod(status))) {
        return accept(exchange, answer, from, followed > 0, method);
      }
      try {
        await answer.discard();
        exchange.throwIfFailed();
        const next = followRedirect(from, location, mode === 'error' ? -1 : MAX_REDIRECTS - followed);
        if (next.origin !== from.origin) {
          // For good: a detour over another origin must not win back what the first one was trusted with.
          sent = [...safeAcrossOrigins(headers), ...own];
          scope = options.redirectScope;
        }
        from = next;
      } catch (error) {
        exchange.end();
        throw error;
      }
    }
  };

  function dispatch(
    exchange: Exchange,
    scope: PoolScope,
    to: Destination,
    method: string,
    headers: string[],
    body: string | Uint8Array | null,
  ): Answer {
    const entry = pools.borrow(scope, to);
    const answer = new Answer(to.host, exchange, limits, clock, () => pools.release(entry));
    exchange.awaitHeaders(to.host, answer);
    entry.pool.dispatch({ path: to.path, method, headers, body }, answer);
    return answer;
  }

  function accept(
    exchange: Exchange,
    answer: Answer,
    from: Destination,
    redirected: boolean,
    method: string,
  ): Incoming {
    answer.accept();
    const { status } = answer;
    const bodiless = method === 'HEAD' || status === 204 || status === 205 || status === 304;
    if (bodiless) void answer.discard();
    else {
      const refused = unreadable(from.host, answer);
      if (refused) {
        exchange.fail(refused);
        throw refused;
      }
    }
    return { answer, from, redirected, bodiless };
  }

  /** What can be refused on the headers alone is not read first. */
  function unreadable(host: string, answer: Answer): EgressError | undefined {
    const encoding = answer.header('content-encoding')?.trim().toLowerCase() ?? '';
    if (encoding !== '' && encoding !== 'identity') {
      return new EgressError('encoded_response', host, { requestSent: true });
    }
    const length = Number(answer.header('content-length') ?? 0);
    return !answer.stream && length > limits.bodyBytes ? tooLarge(host, limits.bodyBytes) : undefined;
  }
}

/** The next URL, held to the same form as the first. `left` counts how many more may be followed. */
function followRedirect({ url, host }: Destination, location: string, left: number): Destination {
  if (left <= 0) {
    throw new EgressError(left === 0 ? 'too_many_redirects' : 'redirect_refused', host, {
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
