import type { Clock } from '@behalf/kernel';

/** What is left of somebody's minute, in parts of a request: whole numbers, so that nothing is lost by rounding. */
interface Bucket {
  remaining: number;
  updatedAt: number;
}

/** One limit for many, each by a pair of names. */
export interface TokenBuckets {
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
