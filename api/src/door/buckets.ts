import type { Clock } from '@behalf/kernel';

/** What is left of somebody's minute, in parts of a request: whole numbers, so that nothing is lost by rounding. */
interface Bucket {
  left: number;
  at: number;
}

/** One limit for many, each by a pair of names. */
export interface Buckets {
  /** Takes one: 0, or the milliseconds until there is one again. */
  take(group: string, name: string): number;
  /** The same without taking. */
  peek(group: string, name: string): number;
  readonly size: number;
}

const MINUTE_MS = 60_000;
/** With as many parts as a minute has milliseconds, each millisecond gives `perMinute` of them. */
const REQUEST = MINUTE_MS;

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
export function createBuckets({
  clock,
  perMinute,
  most,
}: {
  clock: Clock;
  perMinute: number;
  most: number;
}): Buckets {
  const full = perMinute * REQUEST;
  let young = empty();
  let old = empty();
  let bornAt = clock.now();

  function turn(now: number): void {
    const age = now - bornAt;
    if (age < MINUTE_MS && young.size < most / 2) return;
    // Two minutes in silence: nobody in either has anything left to remember.
    old = age >= 2 * MINUTE_MS ? empty() : young;
    young = empty();
    bornAt = now;
  }

  /** Where they stand now, or undefined for a full minute. */
  function find(group: string, name: string, now: number): Bucket | undefined {
    turn(now);
    const bucket = young.groups.get(group)?.get(name) ?? old.groups.get(group)?.get(name);
    if (!bucket) return undefined;
    // A clock that was set back gives nothing and takes nothing.
    const passed = Math.max(0, now - bucket.at);
    bucket.left = Math.min(full, bucket.left + passed * perMinute);
    bucket.at = now;
    return bucket;
  }

  function keep(group: string, name: string, bucket: Bucket): void {
    let names = young.groups.get(group);
    if (!names) {
      names = new Map<string, Bucket>();
      young.groups.set(group, names);
    }
    if (names.get(name) === bucket) return;
    names.set(name, bucket);
    young.size += 1;
  }

  function waitFor(left: number): number {
    return left >= REQUEST ? 0 : Math.ceil((REQUEST - left) / perMinute);
  }

  return {
    take(group, name) {
      const now = clock.now();
      const bucket = find(group, name, now) ?? { left: full, at: now };
      keep(group, name, bucket);
      const waitMs = waitFor(bucket.left);
      if (waitMs === 0) bucket.left -= REQUEST;
      return waitMs;
    },
    peek: (group, name) => waitFor(find(group, name, clock.now())?.left ?? full),
    get size() {
      return young.size + old.size;
    },
  };
}

function empty(): Generation {
  return { groups: new Map(), size: 0 };
}
