import type { Clock, Fetch } from '@behalf/kernel';
import type { ClientFetchLimit } from './clientFetchLimit.ts';

/** Whatever came of it: an address that does not answer is no reason to ask it more often. */
const CACHE_TTL_MS = 60_000;
/** Each is as long as the door out lets it be. */
const MAX_CACHED = 200;
/** What the library reads of an answer; the others are about how it came here. */
const CACHED_HEADERS = ['cache-control', 'expires', 'content-type'];

interface CachedResponse {
  readonly status: number;
  readonly headers: [name: string, value: string][];
  readonly body: ArrayBuffer;
}

export interface ClientFetchParts {
  readonly fetch: Fetch;
  readonly fetchLimit: Pick<ClientFetchLimit, 'tryConsume'>;
  readonly clock: Clock;
}

/**
 * Documents and keys of clients, which are only ever read. The library reads them anew with each request of a client that it
 * makes anew: without a memory of our own, whoever publishes a document could turn us against any address, request by request.
 */
export function createClientFetch({ fetch, fetchLimit, clock }: ClientFetchParts): Fetch {
  const cache = new Map<string, { readonly response: Promise<CachedResponse>; readonly expiresAt: number }>();

  async function fetchResponse(url: string, init: RequestInit | undefined): Promise<CachedResponse> {
    const response = await fetch(url, init);
    const headers = [...response.headers].filter(([name]) => CACHED_HEADERS.includes(name));
    return { status: response.status, headers, body: await response.arrayBuffer() };
  }

  function getResponse(url: string, init: RequestInit | undefined): Promise<CachedResponse> {
    const cached = cache.get(url);
    if (cached && clock.now() < cached.expiresAt) return cached.response;
    if (!fetchLimit.tryConsume()) throw new Error('Too many client document requests per minute');
    const response = fetchResponse(url, init);
    cache.delete(url);
    cache.set(url, { response, expiresAt: clock.now() + CACHE_TTL_MS });
    const [oldest] = cache.keys();
    if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
    return response;
  }

  return async (url, init) => {
    const { status, headers, body } = await getResponse(String(url), init);
    return new Response(body.byteLength === 0 ? null : body, { status, headers });
  };
}
