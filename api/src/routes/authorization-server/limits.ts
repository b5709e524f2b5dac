import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { AuthorizationServer } from '@behalf/contracts';
import { networkOf } from '@behalf/gateway';
import type { AuthorizationServerRecords } from '@behalf/gateway/authorization-server';
import type { Clock, Fetch } from '@behalf/kernel';
import { createTokenBuckets } from '../../http/limits.ts';

/** How long somebody has for an answer. */
export const INTERACTION_MS = 15 * 60 * 1000;
/** What a client sends is a few hundred characters, and all of it is kept. */
export const MAX_QUERY_LENGTH = 4_096;
/** For one network: as many as come from an office where everybody sets up their clients at once. */
const MAX_INTERACTIONS_PER_MINUTE = 60;
const MAX_NETWORKS = 10_000;
/** Of all networks: some 50 MB at their longest. */
const MAX_INTERACTIONS = 5_000;

/** Takes one: 0, or the milliseconds until there is one again. `step` tells questions from going on with one. */
type InteractionLimit = (req: IncomingMessage, step: 'begin' | 'resume') => Promise<number>;

interface InteractionLimitParts {
  readonly records: Pick<AuthorizationServerRecords, 'ensureCapacity'>;
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly clock: Clock;
  readonly maxInteractions?: number;
}

/**
 * Whatever a client asks is kept until its user has answered, and anybody can ask: in the store where tokens are kept too. One
 * network gets no further than its share. Many at once only make the oldest question end sooner: to refuse the newest would
 * let them close this door for everybody.
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

/** Of a client that registered and that nobody said yes to. Others last longer than every grant they were given. */
export const UNUSED_CLIENT_TTL_MS = 24 * 60 * 60 * 1000;
const MAX_REGISTRATION_NETWORKS = 10_000;
/** All networks together get what so many get each: who has registered has time to be agreed to, whoever else comes. */
const GLOBAL_LIMIT_FACTOR = 10;
const FULL_RETRY_MS = 60 * 60 * 1000;

/** Takes one: 0, or the milliseconds until it is worth another try. */
type RegistrationLimit = (req: IncomingMessage) => Promise<number>;

interface RegistrationLimitParts {
  readonly settings: { readonly registration: Readonly<AuthorizationServer['registration']> };
  readonly records: Pick<AuthorizationServerRecords, 'ensureCapacity'>;
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly clock: Clock;
}

/**
 * Anybody can register, and nobody may keep others from it. Of those that nobody has agreed to, the oldest makes room for the
 * next; only clients in use can be too many.
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
    // Their own first: what is refused there takes nothing from the others.
    const waitMs =
      networkBuckets.consume('', networkOf(clientAddressOf(req), 'site')) || globalBucket.consume('', '');
    if (waitMs > 0) return waitMs;
    return (await records.ensureCapacity('Client', maxClients, UNUSED_CLIENT_TTL_MS)) ? 0 : FULL_RETRY_MS;
  };
}

/** Addresses that are not known yet, in a minute, for one network. */
const MAX_FETCHES_PER_MINUTE = 30;
const MAX_FETCH_NETWORKS = 10_000;

/** Anybody can name an address: we do not ask without end for somebody who names one after the other. */
export interface ClientFetchLimit {
  /** What is asked for during this work is on the account of who sent this request. */
  runForRequest<T>(req: IncomingMessage, work: () => Promise<T>): Promise<T>;
  /** Whether one more may be asked for now. On nobody's account none is. */
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
  // The library asks in places where it knows of no request.
  const requests = new AsyncLocalStorage<IncomingMessage>();
  return {
    runForRequest: (req, work) => requests.run(req, work),
    tryConsume() {
      const req = requests.getStore();
      return req !== undefined && buckets.consume('', networkOf(clientAddressOf(req), 'site')) === 0;
    },
  };
}

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

interface ClientFetchParts {
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
