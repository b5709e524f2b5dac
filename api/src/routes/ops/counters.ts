import type { CallbackResult } from '@behalf/gateway';
import type { Metric, Registry } from 'prom-client';

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

/** How exchanges of tokens ended, by their code, and how many requests they cost. */
export interface ExchangeStats {
  count(outcome: string, requests: number): void;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly requests: number;
}

export function createExchangeStats(): ExchangeStats {
  const outcomes = new Map<string, number>();
  let total = 0;
  return {
    count(outcome, requests) {
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      total += requests;
    },
    outcomes,
    get requests() {
      return total;
    },
  };
}

/** How refreshes of stored tokens ended, by their code. Who refreshes one counts it here. */
export interface RefreshStats {
  count(outcome: string): void;
  /** A pair was received and could not be stored: until it is, one process alone holds a user's sign-in. */
  countNotStored(): void;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly notStored: number;
}

export function createRefreshStats(): RefreshStats {
  const outcomes = new Map<string, number>();
  let notStored = 0;
  return {
    count: (outcome) => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1),
    countNotStored: () => void (notStored += 1),
    outcomes,
    get notStored() {
      return notStored;
    },
  };
}

/** How sign-ins at servers ended when their users came back from the authorization server. */
export interface SignInStats {
  count(finished: Pick<CallbackResult, 'ok' | 'error'>): void;
  /** `ok`, or a code of ours: never a word of who sent it. */
  readonly outcomes: ReadonlyMap<string, number>;
}

export function createSignInStats(): SignInStats {
  const outcomes = new Map<string, number>();
  return {
    count({ ok, error = 'callback_failed' }) {
      const outcome = ok ? 'ok' : error;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    },
    outcomes,
  };
}
