import { GatewayError, type Principal, type Registry as ServerRegistry } from '@behalf/gateway';
import { areSecretsEqual } from '@behalf/kernel';
import { Counter, Gauge, type Metric, Registry, collectDefaultMetrics } from 'prom-client';
import { type Admission, requireOperator } from '../../http/authentication.ts';
import { type Route, publicRoute } from '../../http/route.ts';
import {
  type CallHistory,
  LATENCY_BUCKETS,
  type ObservedCall,
  bucketOf,
  latencyBounds,
} from './callHistory.ts';
import type { ExchangeStats, RefreshStats, SignInStats } from './counters.ts';

interface MetricsRouteParts {
  metrics: Metrics;
  /** The bearer token of the collector; undefined if none is configured. */
  token: string | undefined;
  admission: Pick<Admission, 'authenticate'>;
}

/** For a collector with the metrics token, or an operator. The labels contain server names, which are not public. */
export function metricsRoute({ metrics, token, admission }: MetricsRouteParts): Route {
  return publicRoute('get', '/metrics', async (req, res) => {
    // If a Bearer token is present, even a malformed one, the session cookie is ignored.
    const bearer = /^Bearer(?: +(.*))?$/i.exec(req.headers.authorization ?? '');
    if (!bearer) requireOperator(await admission.authenticate(req, { access: 'admin', scope: 'admin' }));
    else if (token === undefined || !areSecretsEqual(bearer[1] ?? '', token))
      throw new GatewayError('AUTH_REQUIRED');
    res.type(metrics.contentType).send(await metrics.render());
  });
}

export interface Metrics {
  observe(call: ObservedCall): void;
  /** The metrics in the Prometheus text format. */
  render(): Promise<string>;
  readonly contentType: string;
}

interface MetricsParts {
  connections: () => { shared: number; user: number; stateless: number; breakersOpen: number };
  exchanges: Pick<ExchangeStats, 'outcomes' | 'requests'>;
  refreshes: Pick<RefreshStats, 'outcomes' | 'notStored'>;
  signInStats: Pick<SignInStats, 'outcomes'>;
  /** Receives the same calls. */
  history: Pick<CallHistory, 'observe'>;
  version: string;
}

/** The metrics label of a server. Servers that users define share one label, because label values must be bounded. */
export function createServerLabel(
  registry: Pick<ServerRegistry, 'find'>,
): (caller: Principal, name: string) => string {
  return ({ tenant }, name) => {
    const server = registry.find(tenant, name);
    if (!server) return '(unknown)';
    return server.source === 'user' ? '(of a user)' : server.name;
  };
}

/** Labels contain servers, outcomes and entry points, never users, arguments or other values that callers choose freely. */
export function createMetrics({
  connections,
  exchanges,
  refreshes,
  signInStats,
  history,
  version,
}: MetricsParts): Metrics {
  const register = new Registry();
  register.setDefaultLabels({ version });
  collectDefaultMetrics({ register });
  const count = createCallStats(register);
  new Gauge({
    name: 'behalf_connections',
    help: 'Open connections to MCP servers.',
    labelNames: ['kind'],
    registers: [register],
    collect() {
      const { shared, user, stateless } = connections();
      this.set({ kind: 'shared' }, shared);
      this.set({ kind: 'user' }, user);
      this.set({ kind: 'stateless' }, stateless);
    },
  });
  new Gauge({
    name: 'behalf_breakers_open',
    help: 'Open circuit breakers.',
    registers: [register],
    collect() {
      this.set(connections().breakersOpen);
    },
  });
  outcomeCounter(register, exchanges.outcomes, {
    name: 'behalf_obo_exchanges_total',
    help: 'Token exchanges by outcome.',
  });
  totalCounter(register, () => exchanges.requests, {
    name: 'behalf_obo_token_requests_total',
    help: 'Requests to token endpoints for token exchanges.',
  });
  outcomeCounter(register, refreshes.outcomes, {
    name: 'behalf_token_refreshes_total',
    help: 'Refreshes of stored tokens by outcome.',
  });
  totalCounter(register, () => refreshes.outcomes.get('lost_rotation') ?? 0, {
    name: 'behalf_lost_rotations_total',
    help: 'Grants lost because the response to a refresh was never received.',
  });
  totalCounter(register, () => refreshes.notStored, {
    name: 'behalf_token_pairs_not_stored_total',
    help: 'Token pairs received that could not be stored in time.',
  });
  outcomeCounter(register, signInStats.outcomes, {
    name: 'behalf_sign_ins_total',
    help: 'Sign-ins at servers by outcome of the callback.',
  });
  return {
    observe(call) {
      count(call);
      history.observe(call);
    },
    render: () => register.metrics(),
    contentType: register.contentType,
  };
}

interface MetricDescription {
  readonly name: string;
  readonly help: string;
}

/** A counter whose values are read on collection. */
function outcomeCounter(
  register: Registry,
  outcomes: ReadonlyMap<string, number>,
  description: MetricDescription,
): void {
  new Counter({
    ...description,
    labelNames: ['outcome'],
    registers: [register],
    collect() {
      this.reset();
      for (const [outcome, count] of outcomes) this.inc({ outcome }, count);
    },
  });
}

/** Exported also while it is 0, so that an alert on an increase sees the first event. */
function totalCounter(register: Registry, total: () => number, description: MetricDescription): void {
  new Counter({
    ...description,
    registers: [register],
    collect() {
      this.reset();
      this.inc(total());
    },
  });
}

interface Duration {
  readonly labels: Readonly<Record<string, string>>;
  /** Observations per bucket, not cumulative. */
  readonly counts: Float64Array;
  sum: number;
}

interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * Counts calls and their durations. The counter and histogram of prom-client hash their labels on every call, so these values are
 * kept in plain maps and converted when they are collected.
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

/** Registers a metric whose samples are computed on collection. */
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
