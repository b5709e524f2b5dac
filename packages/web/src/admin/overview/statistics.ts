import type { StatsView } from '@behalf/contracts';

export type ServerStats = StatsView['servers'][number];

/** Returns the start time of each bucket. */
export function bucketTimes(
  { from, bucketMs }: Pick<StatsView, 'from' | 'bucketMs'>,
  count: number,
): number[] {
  return Array.from({ length: count }, (_, index) => from + index * bucketMs);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Adds up the calls and errors of all servers by bucket. Latencies cannot be added. */
export function sumServers(servers: readonly ServerStats[]): Pick<ServerStats, 'calls' | 'errors'> {
  const bucketCount = Math.max(0, ...servers.map(({ calls }) => calls.length));
  const sumBuckets = (of: 'calls' | 'errors') =>
    Array.from({ length: bucketCount }, (_, index) => sum(servers.map((server) => server[of][index] ?? 0)));
  return { calls: sumBuckets('calls'), errors: sumBuckets('errors') };
}

/** Sorts by number of calls, then by name, so that the order is stable. */
export function sortByCalls(servers: readonly ServerStats[]): ServerStats[] {
  return [...servers].sort((a, b) => sum(b.calls) - sum(a.calls) || (a.server < b.server ? -1 : 1));
}

/** Returns the largest value and its index, or undefined if there is no value. */
export function findPeak(
  values: readonly (number | null)[],
): { readonly value: number; readonly index: number } | undefined {
  let peak: { value: number; index: number } | undefined;
  for (const [index, value] of values.entries()) {
    if (value !== null && (!peak || value > peak.value)) peak = { value, index };
  }
  return peak;
}

/** Returns the newest value that is not missing. */
export function latestValue(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

/** Sorts counters by value, largest first. */
export function sortOutcomes(outcomes: Readonly<Record<string, number>>): (readonly [string, number])[] {
  return Object.entries(outcomes).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}
