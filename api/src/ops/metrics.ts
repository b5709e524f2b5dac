import type { ServerSnapshot } from '@behalf/gateway';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { CallHistory } from './callHistory.ts';
import { createCallStats, type Observed } from './callStats.ts';
import type { ExchangeStats } from './exchangeStats.ts';
import type { RefreshStats } from './refreshStats.ts';
import type { SignInStats } from './signInStats.ts';

export interface Metrics {
  observe(call: Observed): void;
  /** The text a collector reads, and its content type. */
  render(): Promise<string>;
  readonly contentType: string;
}

export interface MetricsParts {
  connections: () => { shared: number; user: number; stateless: number; breakersOpen: number };
  exchanges: Pick<ExchangeStats, 'outcomes' | 'requests'>;
  refreshes: Pick<RefreshStats, 'outcomes' | 'notStored'>;
  signIns: Pick<SignInStats, 'outcomes'>;
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
  signIns,
  history,
  version,
}: MetricsParts): Metrics {
  const register = new Registry();
  register.setDefaultLabels({ version });
  collectDefaultMetrics({ register });
  const count = createCallStats(register);
  new Gauge({
    name: 'behalf_connections',
    help: 'Open conversations with MCP servers.',
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
    help: 'Servers that are left alone for a while because they failed repeatedly.',
    registers: [register],
    collect() {
      this.set(connections().breakersOpen);
    },
  });
  outcomeCounter(register, exchanges.outcomes, {
    name: 'behalf_obo_exchanges_total',
    help: 'Exchanges of users’ tokens by how they ended.',
  });
  totalCounter(register, () => exchanges.requests, {
    name: 'behalf_obo_token_requests_total',
    help: 'Requests made to token endpoints for them.',
  });
  outcomeCounter(register, refreshes.outcomes, {
    name: 'behalf_token_refreshes_total',
    help: 'Refreshes of stored tokens by how they ended.',
  });
  totalCounter(register, () => refreshes.outcomes.get('lost_rotation') ?? 0, {
    name: 'behalf_lost_rotations_total',
    help: 'Sign-ins that were lost because the answer to a refresh never came.',
  });
  totalCounter(register, () => refreshes.notStored, {
    name: 'behalf_token_pairs_not_stored_total',
    help: 'Token pairs that were received and could not be stored in time.',
  });
  outcomeCounter(register, signIns.outcomes, {
    name: 'behalf_sign_ins_total',
    help: 'Sign-ins at servers by how they ended when their users came back.',
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

interface Named {
  readonly name: string;
  readonly help: string;
}

/** What somebody else counts by outcome, read when it is collected. */
function outcomeCounter(register: Registry, outcomes: ReadonlyMap<string, number>, named: Named): void {
  new Counter({
    ...named,
    labelNames: ['outcome'],
    registers: [register],
    collect() {
      this.reset();
      for (const [outcome, count] of outcomes) this.inc({ outcome }, count);
    },
  });
}

/** Also at 0: what never happened is told from what is not counted, and an alert sees the first time. */
function totalCounter(register: Registry, total: () => number, named: Named): void {
  new Counter({
    ...named,
    registers: [register],
    collect() {
      this.reset();
      this.inc(total());
    },
  });
}
