import { GatewayError, type Principal, networkOf } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';

/** `calls`: tool calls, reads and lists. `writes`: whatever else changes something. */
type RateClass = 'calls' | 'writes';

export interface RateLimits {
  /** Counts one request, or throws with the time after which the next one is taken. */
  consume(principal: Pick<Principal, 'tenant' | 'userId'>, rateClass: RateClass): void;
  /** A token or a key from this address was refused. */
  recordRefusal(address: string): void;
  /** Throws while too many were: before the next one is looked at. */
  checkAddress(address: string): void;
}

interface RateLimitParts {
  readonly clock: Clock;
  readonly perMinute: Readonly<Record<RateClass, number>>;
  /** How many callers, and how many networks, are told apart. */
  readonly maxTracked?: number;
}

const MAX_TRACKED = 50_000;
/** Guesses at 256 random bits are hopeless; this keeps them from costing much. A misconfigured client stays below it. */
const REFUSALS_PER_MINUTE = 300;

/**
 * What one caller may ask of this process. In memory: a limit that had to ask the store would cost every call more than
 * what it protects, so each replica gives its own share.
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

/** What is left of somebody's minute, in parts of a request: whole numbers, so that nothing is lost by rounding. */
interface Bucket {
  remaining: number;
  updatedAt: number;
}

/** One limit for many, each by a pair of names. */
interface TokenBuckets {
  /** Takes one: 0, or the milliseconds until there is one again. */
  consume(group: string, name: string): number;
  /** The same without taking. */
  peek(group: string, name: string): number;
  readonly size: number;
}

const MINUTE_MS = 60_000;
/** With as many parts as a minute has milliseconds, each millisecond gives `perMinute` of them. */
const UNITS_PER_REQUEST = MINUTE_MS;

/** Maps in a map: a key put together from both names would be made anew with every request. */
interface Generation {
  readonly groups: Map<string, Map<string, Bucket>>;
  size: number;
}

/**
 * Token buckets that hold a minute's worth and fill up steadily. They live in two generations: who is seen moves to the
 * younger one, and the older one is dropped as a whole, without a timer or a search. By then its buckets were full again,
 * unless there are too many to remember.
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
    // Two minutes in silence: nobody in either has anything left to remember.
    previous = age >= 2 * MINUTE_MS ? createGeneration() : current;
    current = createGeneration();
    startedAt = now;
  }

  /** Where they stand now, or undefined for a full minute. */
  function refill(group: string, name: string, now: number): Bucket | undefined {
    rotateGenerations(now);
    const bucket = current.groups.get(group)?.get(name) ?? previous.groups.get(group)?.get(name);
    if (!bucket) return undefined;
    // A clock that was set back gives nothing and takes nothing.
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

/** Counts what is under way, so that one user cannot hold the memory and the connections of everybody. */
export interface InFlightLimiter {
  /** Throws when there is no room. */
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
