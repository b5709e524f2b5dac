import { GatewayError, type ServerSnapshot } from '@behalf/gateway';
import { areSecretsEqual } from '@behalf/kernel';
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { type Admission, requireOperator } from '../../http/authentication.ts';
import { type Route, publicRoute } from '../../http/route.ts';
import type { CallHistory } from './callHistory.ts';
import {
  type ExchangeStats,
  type ObservedCall,
  type RefreshStats,
  type SignInStats,
  createCallStats,
} from './counters.ts';

interface MetricsRouteParts {
  metrics: Metrics;
  /** What a collector presents; undefined when none is configured. */
  token: string | undefined;
  admission: Pick<Admission, 'authenticate'>;
}

/** For a collector with its token, or an administrator of the whole gateway: the names of servers are not for everybody. */
export function metricsRoute({ metrics, token, admission }: MetricsRouteParts): Route {
  return publicRoute('get', '/metrics', async (req, res) => {
    // Whoever presents a token is judged by it alone, however malformed it is.
    const bearer = /^Bearer(?: +(.*))?$/i.exec(req.headers.authorization ?? '');
    if (!bearer) requireOperator(await admission.authenticate(req, { access: 'admin', scope: 'admin' }));
    else if (token === undefined || !areSecretsEqual(bearer[1] ?? '', token))
      throw new GatewayError('AUTH_REQUIRED');
    res.type(metrics.contentType).send(await metrics.render());
  });
}

export interface Metrics {
  observe(call: ObservedCall): void;
  /** The text a collector reads, and its content type. */
  render(): Promise<string>;
  readonly contentType: string;
}

interface MetricsParts {
  connections: () => { shared: number; user: number; stateless: number; breakersOpen: number };
  exchanges: Pick<ExchangeStats, 'outcomes' | 'requests'>;
  refreshes: Pick<RefreshStats, 'outcomes' | 'notStored'>;
  signInStats: Pick<SignInStats, 'outcomes'>;
  /** Hears of the same calls. */
  history: Pick<CallHistory, 'observe'>;
  version: string;
}

/** Under which name a server is counted: those that users add have none, or the labels would grow without end. */
export function serverLabel(server: ServerSnapshot | undefined): string {
  if (!server) return '(unknown)';
  return server.source === 'user' ? '(of a user)' : server.name;
}

/** Labels name servers, outcomes and doors: never a user, a tool's argument or anything a caller can choose freely. */
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

/** What somebody else counts by outcome, read when it is collected. */
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

/** Also at 0: what never happened is told from what is not counted, and an alert sees the first time. */
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
