import { abortReason, type Clock, type Fetch } from '@behalf/kernel';
import type { Dispatcher } from 'undici';
import { createBodyGuard, createEventStreamGuard, isEventStream, tooLarge } from './bodyGuard.ts';
import { connectionError, EgressError } from './errors.ts';
import { createExchange, type Exchange } from './exchange.ts';
import { createGuardedBody } from './guardedBody.ts';
import { GuardedResponse } from './guardedResponse.ts';
import { HOP_HEADER, MAX_HOPS, type Hops } from './hop.ts';
import type { Limits, Timeouts } from './limits.ts';
import type { PoolEntry, Pools, PoolScope } from './pools.ts';
import { readRequestBody, type RequestBody } from './requestBody.ts';
import { readRequestHeaders, safeAcrossOrigins } from './requestHeaders.ts';
import { readUrl, targetOf } from './target.ts';

const MAX_REDIRECTS = 5;

export interface GuardedFetchOptions {
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

type Head = Dispatcher.ResponseData;

/** A fetch that goes through the guard: see createEgress. */
export function createGuardedFetch(
  parts: { pools: Pools; hops: Hops; clock: Clock },
  options: GuardedFetchOptions,
): Fetch {
  const { pools, hops, clock } = parts;
  const { timeouts, limits } = options;

  return async (input, init = {}) => {
    let url = parseUrl(input);
    const mode = options.redirects === 'refuse' ? 'error' : (init.redirect ?? 'follow');
    const headers = readRequestHeaders(url.hostname, init.headers);
    const hop = Math.max(options.hop, hops.read(headers.hop)) + 1;
    if (hop > MAX_HOPS) throw new EgressError('hop_limit', url.hostname);
    const encoded = readRequestBody(init.body);
    const body = encoded instanceof Promise ? await encoded : encoded;
    const own = ['accept-encoding', 'identity', HOP_HEADER, hops.write(hop)];
    if (!headers.hasContentType && body.contentType !== undefined) own.push('content-type', body.contentType);
    let sent = [...headers.flat, ...own];
    let scope = options.scope;

    const exchange = createExchange(clock, timeouts, init.signal);
    const method = (init.method ?? 'GET').toUpperCase();
    for (let followed = 0; ; followed += 1) {
      exchange.awaitHeaders(url.hostname);
      const { head, entry } = await send(exchange, scope, url, method, sent, body);
      const location = redirectLocation(head);
      if (
        location === undefined ||
        mode === 'manual' ||
        (mode === 'follow' && !keepsMethod(head.statusCode))
      ) {
        return respond(exchange, head, entry, url, followed > 0, method);
      }
      try {
        await discard(exchange, head, entry);
        const next = followRedirect(url, location, mode === 'error' ? -1 : MAX_REDIRECTS - followed);
        if (next.origin !== url.origin) {
          // For good: a detour over another origin must not win back what the first one was trusted with.
          sent = [...safeAcrossOrigins(headers.flat), ...own];
          scope = options.redirectScope;
        }
        url = next;
      } catch (error) {
        exchange.end();
        throw error;
      }
    }
  };

  async function send(
    exchange: Exchange,
    scope: PoolScope,
    url: URL,
    method: string,
    headers: string[],
    body: RequestBody,
  ): Promise<{ head: Head; entry: PoolEntry }> {
    let entry: PoolEntry | undefined;
    try {
      if (exchange.signal.aborted) throw abortReason(exchange.signal);
      entry = pools.borrow(scope, url);
      const path = url.pathname + url.search;
      const { signal } = exchange;
      const head = await entry.pool.request({ path, method, headers, body: body.content, signal });
      return { head, entry };
    } catch (error) {
      exchange.end();
      if (entry) pools.release(entry);
      throw exchange.signal.aborted
        ? abortReason(exchange.signal)
        : connectionError(error, url.hostname, true);
    }
  }

  function respond(
    exchange: Exchange,
    head: Head,
    entry: PoolEntry,
    url: URL,
    redirected: boolean,
    method: string,
  ): Response {
    const { statusCode: status, body: source } = head;
    const host = url.hostname;
    source.on('close', () => {
      exchange.end();
      pools.release(entry);
    });
    const stream = isEventStream(text(head.headers['content-type']));
    exchange.receive(stream);
    const bodiless = method === 'HEAD' || status === 204 || status === 205 || status === 304;
    if (bodiless) source.on('error', () => undefined).resume();
    else {
      const refused = unreadable(host, head, stream);
      if (refused) {
        exchange.fail(refused);
        throw refused;
      }
    }
    const guard = stream ? createEventStreamGuard(host, limits) : createBodyGuard(host, limits);
    return new GuardedResponse(
      {
        status,
        statusText: head.statusText,
        headers: toHeaders(head.headers),
        url: withoutFragment(url),
        redirected,
      },
      bodiless ? null : createGuardedBody(host, source, guard, exchange),
    );
  }

  /** What can be refused on the headers alone is not read first. */
  function unreadable(host: string, head: Head, stream: boolean): EgressError | undefined {
    const encoding = text(head.headers['content-encoding']).trim().toLowerCase();
    if (encoding !== '' && encoding !== 'identity') {
      return new EgressError('encoded_response', host, { requestSent: true });
    }
    const length = Number(text(head.headers['content-length']) || 0);
    return !stream && length > limits.bodyBytes ? tooLarge(host, limits.bodyBytes) : undefined;
  }

  /** A redirect's body is nobody's, but reading a short one to its end saves the connection. */
  async function discard(exchange: Exchange, { body }: Head, entry: PoolEntry): Promise<void> {
    try {
      await body.dump({ limit: 16_384, signal: exchange.signal });
    } catch {
      body.on('error', () => undefined).destroy();
    } finally {
      pools.release(entry);
    }
    if (exchange.signal.aborted) throw abortReason(exchange.signal);
  }
}

/** An HTTP request is for http(s) alone; the other schemes that a target may have are for sockets. */
function parseUrl(input: string | URL): URL {
  const url = readUrl(input);
  const { host, protocol } = targetOf(url);
  if (protocol !== 'https:' && protocol !== 'http:') throw new EgressError('bad_url', host);
  return url;
}

function redirectLocation({ statusCode, headers }: Head): string | undefined {
  const { location } = headers;
  return location !== undefined && [301, 302, 303, 307, 308].includes(statusCode)
    ? text(location)
    : undefined;
}

/** The next URL, held to the same form as the first. `left` counts how many more may be followed. */
function followRedirect(from: URL, location: string, left: number): URL {
  const host = from.hostname;
  if (left <= 0) {
    throw new EgressError(left === 0 ? 'too_many_redirects' : 'redirect_refused', host, {
      requestSent: true,
    });
  }
  if (!URL.canParse(location, from.href)) throw new EgressError('bad_url', host, { requestSent: true });
  return parseUrl(new URL(location, from));
}

/** 301 to 303 may turn a POST into a GET: what the caller asked for would silently not happen. */
function keepsMethod(status: number): boolean {
  return status === 307 || status === 308;
}

function toHeaders(source: Head['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(source)) {
    if (typeof value === 'string') headers.append(name, value);
    else for (const item of value ?? []) headers.append(name, item);
  }
  return headers;
}

function text(value: string | string[] | undefined): string {
  return (typeof value === 'string' ? value : value?.[0]) ?? '';
}

function withoutFragment(url: URL): string {
  return url.hash === '' ? url.href : url.href.slice(0, -url.hash.length);
}
