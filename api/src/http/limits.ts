import { GatewayError, type Principal, networkOf } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';

/** `calls`: tool calls, reads and lists. `writes`: all other changes. */
type RateClass = 'calls' | 'writes';

export interface RateLimits {
  /** Counts one request. Throws with the time until the next one is allowed. */
  consume(principal: Pick<Principal, 'tenant' | 'userId'>, rateClass: RateClass): void;
  /** Counts a refused token or key from this address. */
  recordRefusal(address: string): void;
  /** Throws while the address has too many refusals. Called before a credential is checked. */
  checkAddress(address: string): void;
}

interface RateLimitParts {
  readonly clock: Clock;
  readonly perMinute: Readonly<Record<RateClass, number>>;
  /** How many callers, and how many networks, have a separate bucket. */
  readonly maxTracked?: number;
}

const MAX_TRACKED = 50_000;
/** Secrets have 256 random bits, so the limit bounds the cost of guessing. A misconfigured client stays below it. */
const REFUSALS_PER_MINUTE = 300;

/**
 * Rate limits per caller and per network address, in the memory of this process. A limit shared by all replicas would need a
 * store access per call, which costs more than the work that it limits. Each replica therefore applies the limits separately.
 */
export function createRateLimits({ clock, perMinute, maxTracked = MAX_TRACKED }: RateLimitParts): RateLimits {
  const buckets = {
    calls: createTokenBuckets({ clock, perMinute: perMinute.calls, maxBuckets: maxTracked }),
    writes: createTokenBuckets({ clock, perMinute: perMinute.writes, maxBuckets: maxTracked }),
  };
  const refusals = createTokenBuckets({ clock, perMinute: REFUSALS_PER_MINUTE, maxBuckets: maxTracked });
  return {
    consume({ tenant, userId }, rateClass) {
      const waitMs = buckets[rateClass].consume(tenant, userId);
      if (waitMs === 0) return;
      const code = rateClass === 'calls' ? 'MCP_RATE_LIMITED' : 'RATE_LIMITED';
      throw new GatewayError(code, { retryAfterMs: waitMs });
    },
    recordRefusal: (address) => void refusals.consume('', networkOf(address)),
    checkAddress(address) {
      const waitMs = refusals.peek('', networkOf(address));
      if (waitMs > 0) throw new GatewayError('RATE_LIMITED', { retryAfterMs: waitMs });
    },
  };
}

/**
 * A token bucket. `remaining` is counted in fractions of a request, as integers, so that refilling does not accumulate
 * rounding errors.
 */
interface Bucket {
  remaining: number;
  updatedAt: number;
}

/** Token buckets with equal limits, identified by two names. */
interface TokenBuckets {
  /** Takes one token. Returns 0, or the milliseconds until a token is available. */
  consume(group: string, name: string): number;
  /** As `consume`, without taking a token. */
  peek(group: string, name: string): number;
  readonly size: number;
}

const MINUTE_MS = 60_000;
/** A bucket gains `perMinute` units per millisecond, so one request costs as many units as a minute has milliseconds. */
const UNITS_PER_REQUEST = MINUTE_MS;

/** Nested maps, because a concatenated key would have to be built for every request. */
interface Generation {
  readonly groups: Map<string, Map<string, Bucket>>;
  size: number;
}

/**
 * Token buckets with a capacity of one minute. They live in two generations: a bucket that is used moves to the current
 * generation, and the previous generation is dropped as a whole, without a timer or a search. A dropped bucket is full again
 * unless there are more than `maxBuckets`.
 */
export function createTokenBuckets({
  clock,
  perMinute,
  maxBuckets,
}: {
  clock: Clock;
  perMinute: number;
  maxBuckets: number;
}): TokenBuckets {
  const capacity = perMinute * UNITS_PER_REQUEST;
  let current = createGeneration();
  let previous = createGeneration();
  let startedAt = clock.now();

  function rotateGenerations(now: number): void {
    const age = now - startedAt;
    if (age < MINUTE_MS && current.size < maxBuckets / 2) return;
    // After two minutes all buckets of both generations are full.
    previous = age >= 2 * MINUTE_MS ? createGeneration() : current;
    current = createGeneration();
    startedAt = now;
  }

  /** The refilled bucket; undefined if it is full. */
  function refill(group: string, name: string, now: number): Bucket | undefined {
    rotateGenerations(now);
    const bucket = current.groups.get(group)?.get(name) ?? previous.groups.get(group)?.get(name);
    if (!bucket) return undefined;
    // If the clock was set back, the bucket does not change.
    const elapsedMs = Math.max(0, now - bucket.updatedAt);
    bucket.remaining = Math.min(capacity, bucket.remaining + elapsedMs * perMinute);
    bucket.updatedAt = now;
    return bucket;
  }

  function store(group: string, name: string, bucket: Bucket): void {
    let names = current.groups.get(group);
    if (!names) {
      names = new Map<string, Bucket>();
      current.groups.set(group, names);
    }
    if (names.get(name) === bucket) return;
    names.set(name, bucket);
    current.size += 1;
  }

  function waitMsFor(remaining: number): number {
    return remaining >= UNITS_PER_REQUEST ? 0 : Math.ceil((UNITS_PER_REQUEST - remaining) / perMinute);
  }

  return {
    consume(group, name) {
      const now = clock.now();
      const bucket = refill(group, name, now) ?? { remaining: capacity, updatedAt: now };
      store(group, name, bucket);
      const waitMs = waitMsFor(bucket.remaining);
      if (waitMs === 0) bucket.remaining -= UNITS_PER_REQUEST;
      return waitMs;
    },
    peek: (group, name) => waitMsFor(refill(group, name, clock.now())?.remaining ?? capacity),
    get size() {
      return current.size + previous.size;
    },
  };
}

function createGeneration(): Generation {
  return { groups: new Map(), size: 0 };
}

interface InFlightLimits {
  readonly maxPerUser: number;
  readonly maxTotal: number;
}

export const inFlightLimits: InFlightLimits = { maxPerUser: 64, maxTotal: 2_000 };

/** Limits the concurrent calls per user and in total, so that one user cannot use up memory and connections. */
export interface InFlightLimiter {
  /** Throws MCP_RATE_LIMITED at the limit. */
  acquire(user: string): void;
  release(user: string): void;
}

export function createInFlightLimiter({
  maxPerUser,
  maxTotal,
}: InFlightLimits = inFlightLimits): InFlightLimiter {
  const users = new Map<string, number>();
  let total = 0;
  return {
    acquire(user) {
      const userCalls = users.get(user) ?? 0;
      if (userCalls >= maxPerUser || total >= maxTotal) {
        throw new GatewayError('MCP_RATE_LIMITED', {
          detail:
            userCalls >= maxPerUser
              ? `You have ${userCalls} calls in progress. Wait for one of them to finish.`
              : 'Too many calls are in progress. Try again in a moment.',
          retryAfterMs: 1_000,
        });
      }
      users.set(user, userCalls + 1);
      total += 1;
    },
    release(user) {
      const userCalls = users.get(user) ?? 0;
      if (userCalls <= 1) users.delete(user);
      else users.set(user, userCalls - 1);
      total -= 1;
    },
  };
}
