import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { AuthorizationServer } from '@behalf/contracts';
import { networkOf } from '@behalf/gateway';
import type { AuthorizationServerRecords } from '@behalf/gateway/authorization-server';
import type { Clock, Fetch } from '@behalf/kernel';
import { createTokenBuckets } from '../../http/limits.ts';

/** The lifetime of an interaction. */
export const INTERACTION_MS = 15 * 60 * 1000;
/** Normal requests have a few hundred characters. All parameters are stored, so longer requests are refused. */
export const MAX_QUERY_LENGTH = 4_096;
/** Per network. Enough for an office in which all users connect their clients at the same time. */
const MAX_INTERACTIONS_PER_MINUTE = 60;
const MAX_NETWORKS = 10_000;
/** For all networks together. At the maximum length they need about 50 MB. */
const MAX_INTERACTIONS = 5_000;

/** Counts one step of an interaction. Returns 0, or the milliseconds until the next one is allowed. */
type InteractionLimit = (req: IncomingMessage, step: 'begin' | 'resume') => Promise<number>;

interface InteractionLimitParts {
  readonly records: Pick<AuthorizationServerRecords, 'ensureCapacity'>;
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly clock: Clock;
  readonly maxInteractions?: number;
}

/**
 * Limits interactions, because anyone can start one and it is stored until it expires, next to the tokens. Per network there
 * is a rate limit. If all networks together exceed the capacity, the oldest interactions are removed: refusing new ones would
 * let an attacker block all sign-ins.
 */
export function createInteractionLimit(parts: InteractionLimitParts): InteractionLimit {
  const { records, clientAddressOf, clock, maxInteractions = MAX_INTERACTIONS } = parts;
  const buckets = createTokenBuckets({
    clock,
    perMinute: MAX_INTERACTIONS_PER_MINUTE,
    maxBuckets: MAX_NETWORKS,
  });
  return async (req, step) => {
    const waitMs = buckets.consume(step, networkOf(clientAddressOf(req), 'site'));
    if (waitMs === 0) await records.ensureCapacity('Interaction', maxInteractions, INTERACTION_MS);
    return waitMs;
  };
}

/** The lifetime of a registered client without consent. After consent a client outlives its grants. */
export const UNUSED_CLIENT_TTL_MS = 24 * 60 * 60 * 1000;
const MAX_REGISTRATION_NETWORKS = 10_000;
/** The rate limit of all networks together, as a multiple of the limit of one network. */
const GLOBAL_LIMIT_FACTOR = 10;
const FULL_RETRY_MS = 60 * 60 * 1000;

/** Counts one registration. Returns 0, or the milliseconds until a retry makes sense. */
type RegistrationLimit = (req: IncomingMessage) => Promise<number>;

interface RegistrationLimitParts {
  readonly settings: { readonly registration: Readonly<AuthorizationServer['registration']> };
  readonly records: Pick<AuthorizationServerRecords, 'ensureCapacity'>;
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly clock: Clock;
}

/**
 * Limits dynamic client registration (RFC 7591), which is open to anyone. At capacity, the oldest client without consent is
 * replaced; registration is refused only if all clients are in use.
 */
export function createRegistrationLimit(parts: RegistrationLimitParts): RegistrationLimit {
  const { records, clientAddressOf, clock } = parts;
  const { perMinute, most: maxClients } = parts.settings.registration;
  const networkBuckets = createTokenBuckets({ clock, perMinute, maxBuckets: MAX_REGISTRATION_NETWORKS });
  const globalBucket = createTokenBuckets({
    clock,
    perMinute: perMinute * GLOBAL_LIMIT_FACTOR,
    maxBuckets: 1,
  });
  return async (req) => {
    // The limit of the network is checked first, so that a refused request does not consume the global limit.
    const waitMs =
      networkBuckets.consume('', networkOf(clientAddressOf(req), 'site')) || globalBucket.consume('', '');
    if (waitMs > 0) return waitMs;
    return (await records.ensureCapacity('Client', maxClients, UNUSED_CLIENT_TTL_MS)) ? 0 : FULL_RETRY_MS;
  };
}

/** Fetches of uncached documents per minute and network. */
const MAX_FETCHES_PER_MINUTE = 30;
const MAX_FETCH_NETWORKS = 10_000;

/** Limits the fetches of client metadata documents, because anyone can name a URL (SSRF amplification). */
export interface ClientFetchLimit {
  /** Attributes fetches during `work` to the sender of the request. */
  runForRequest<T>(req: IncomingMessage, work: () => Promise<T>): Promise<T>;
  /** Counts one fetch. Returns false at the limit, or outside of `runForRequest`. */
  tryConsume(): boolean;
}

export function createClientFetchLimit(
  clock: Clock,
  clientAddressOf: (req: IncomingMessage) => string,
): ClientFetchLimit {
  const buckets = createTokenBuckets({
    clock,
    perMinute: MAX_FETCHES_PER_MINUTE,
    maxBuckets: MAX_FETCH_NETWORKS,
  });
  // AsyncLocalStorage, because oidc-provider fetches documents without a reference to the request.
  const requests = new AsyncLocalStorage<IncomingMessage>();
  return {
    runForRequest: (req, work) => requests.run(req, work),
    tryConsume() {
      const req = requests.getStore();
      return req !== undefined && buckets.consume('', networkOf(clientAddressOf(req), 'site')) === 0;
    },
  };
}

/** Failures are cached as well, so that they do not cause more requests. */
const CACHE_TTL_MS = 60_000;
/** The size of each response is limited by egress. */
const MAX_CACHED = 200;
/** The headers that oidc-provider reads. */
const CACHED_HEADERS = ['cache-control', 'expires', 'content-type'];

interface CachedResponse {
  readonly status: number;
  readonly headers: [name: string, value: string][];
  readonly body: ArrayBuffer;
}

interface ClientFetchParts {
  readonly fetch: Fetch;
  readonly fetchLimit: Pick<ClientFetchLimit, 'tryConsume'>;
  readonly clock: Clock;
}

/**
 * Fetches metadata documents and keys of clients with a cache. oidc-provider fetches them for each new client instance;
 * without the cache, an attacker could direct one request at any URL per request to the gateway.
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
