import { bucketOf, LATENCY_BUCKETS, quantile } from './latencyBuckets.ts';

export interface Period {
  readonly slots: number;
  readonly slotMs: number;
}

/** What happened in each slot of a period, the oldest first. */
export interface RingView {
  readonly calls: number[];
  readonly errors: number[];
  /** Milliseconds; null where there was no call. */
  readonly p50: (number | null)[];
  readonly p95: (number | null)[];
}

/** Calls of the last hour or day in slots of equal length. Its size does not grow. */
export interface CallRing {
  add(now: number, seconds: number, isError: boolean): void;
  /** Null when there was no call in all of it. */
  read(now: number): RingView | null;
}

/** The histogram, and the errors behind it. */
const SLOT_WIDTH = LATENCY_BUCKETS + 1;

export function createCallRing({ slots, slotMs }: Period): CallRing {
  const counts = new Uint32Array(slots * SLOT_WIDTH);
  /** Which slot since the beginning of time stands in each place: one that comes round again is emptied when it is used. */
  const slotStamps = new Float64Array(slots).fill(-1);

  function viewOf(slot: number): Uint32Array | undefined {
    const slotIndex = slot % slots;
    return slotStamps[slotIndex] === slot
      ? counts.subarray(slotIndex * SLOT_WIDTH, (slotIndex + 1) * SLOT_WIDTH)
      : undefined;
  }

  return {
    add(now, seconds, isError) {
      const slot = Math.floor(now / slotMs);
      const slotIndex = slot % slots;
      const start = slotIndex * SLOT_WIDTH;
      if (slotStamps[slotIndex] !== slot) {
        counts.fill(0, start, start + SLOT_WIDTH);
        slotStamps[slotIndex] = slot;
      }
      const bucket = start + bucketOf(seconds);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      const errors = start + LATENCY_BUCKETS;
      if (isError) counts[errors] = (counts[errors] ?? 0) + 1;
    },
    read(now) {
      const view: RingView = { calls: [], errors: [], p50: [], p95: [] };
      const last = Math.floor(now / slotMs);
      for (let slot = last - slots + 1; slot <= last; slot += 1) {
        const slotCounts = viewOf(slot);
        const histogram = slotCounts?.subarray(0, LATENCY_BUCKETS);
        view.calls.push(histogram?.reduce((sum, count) => sum + count, 0) ?? 0);
        view.errors.push(slotCounts?.[LATENCY_BUCKETS] ?? 0);
        view.p50.push(histogram ? milliseconds(quantile(0.5, histogram)) : null);
        view.p95.push(histogram ? milliseconds(quantile(0.95, histogram)) : null);
      }
      return view.calls.some((calls) => calls > 0) ? view : null;
    },
  };
}

/** To a tenth: they are estimates. */
function milliseconds(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 10_000) / 10;
}
