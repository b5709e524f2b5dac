import type { Metric, Registry } from 'prom-client';
import { bucketOf, LATENCY_BUCKETS, latencyBounds } from './latencyBuckets.ts';

/** How a request to a server ended: well, with an error of the tool, or with the code that its caller was given. */
export interface ObservedCall {
  /** Of the caller. No label: what is counted for everybody does not tell tenants apart. */
  readonly tenant: string;
  readonly server: string;
  readonly door: string;
  readonly outcome: string;
  readonly seconds: number;
}

interface Duration {
  readonly labels: Readonly<Record<string, string>>;
  /** Observations up to each bound, the last one for what is above them all; not cumulative. */
  readonly counts: Float64Array;
  sum: number;
}

interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * Counts calls and how long they took. The library's own counter and histogram hash their labels with every call;
 * these two are only written out when somebody collects them.
 */
export function createCallStats(register: Registry): (call: ObservedCall) => void {
  const counters = new Map<string, { labels: Readonly<Record<string, string>>; value: number }>();
  const durations = new Map<string, Duration>();

  registerMetric(
    register,
    'behalf_upstream_requests_total',
    'counter',
    'Requests to MCP servers by outcome.',
    () => [...counters.values()],
  );
  const name = 'behalf_upstream_request_seconds';
  registerMetric(register, name, 'histogram', 'Time from receiving a request to its response.', () =>
    [...durations.values()].flatMap((duration) => samplesOf(name, duration)),
  );

  return ({ server, door, outcome, seconds }) => {
    const durationKey = `${server}\n${door}`;
    const key = `${durationKey}\n${outcome}`;
    const count = counters.get(key);
    if (count) count.value += 1;
    else counters.set(key, { labels: { server, door, outcome }, value: 1 });
    let duration = durations.get(durationKey);
    if (!duration) {
      duration = { labels: { server, door }, counts: new Float64Array(LATENCY_BUCKETS), sum: 0 };
      durations.set(durationKey, duration);
    }
    const bucket = bucketOf(seconds);
    duration.counts[bucket] = (duration.counts[bucket] ?? 0) + 1;
    duration.sum += seconds;
  };
}

function samplesOf(name: string, { labels, counts, sum }: Duration): Sample[] {
  let total = 0;
  const buckets = [...counts].map((count, index): Sample => {
    total += count;
    return {
      metricName: `${name}_bucket`,
      labels: { ...labels, le: latencyBounds[index] ?? '+Inf' },
      value: total,
    };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

/** A metric as the registry reads one. */
function registerMetric(
  register: Registry,
  name: string,
  type: string,
  help: string,
  values: () => readonly Sample[],
): void {
  const metric = {
    name,
    type,
    help,
    get: async () => ({ name, help, type, values: values(), aggregator: 'sum' }),
    reset: () => undefined,
  };
  register.registerMetric(metric as unknown as Metric);
}
