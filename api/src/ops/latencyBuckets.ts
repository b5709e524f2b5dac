/** Upper bounds in seconds. What took longer than the last one is in a bucket of its own. */
export const latencyBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export const LATENCY_BUCKETS = latencyBounds.length + 1;

export function bucketOf(seconds: number): number {
  let bucket = 0;
  while (bucket < latencyBounds.length && seconds > (latencyBounds[bucket] ?? Infinity)) bucket += 1;
  return bucket;
}

/**
 * The value below which this share of the observations lies, in seconds: as if those of a bucket were spread evenly
 * over it. Of what took longer than the last bound nothing but that is known. Null when there are none.
 */
export function quantile(share: number, counts: Uint32Array): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (const [bucket, upper] of latencyBounds.entries()) {
    const count = counts[bucket] ?? 0;
    if (count > 0 && below + count >= rank) {
      const lower = latencyBounds[bucket - 1] ?? 0;
      return lower + (upper - lower) * ((rank - below) / count);
    }
    below += count;
  }
  return latencyBounds.at(-1) ?? null;
}
