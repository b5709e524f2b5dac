import type { ServerSnapshot } from '@behalf/gateway';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { createCallStats, type Observed } from './callStats.ts';
import type { ExchangeStats } from './exchangeStats.ts';

export interface Metrics {
  observe(call: Observed): void;
  /** The text a collector reads, and its content type. */
  render(): Promise<string>;
  readonly contentType: string;
}

export interface MetricsParts {
  connections: () => { shared: number; user: number; stateless: number; breakersOpen: number };
  exchanges: Pick<ExchangeStats, 'outcomes' | 'requests'>;
  version: string;
}

/** Under which name a server is counted: those that users add have none, or the labels would grow without end. */
export function serverLabel(server: ServerSnapshot | undefined): string {
  if (!server) return '(unknown)';
  return server.source === 'user' ? '(of a user)' : server.name;
}

/** Labels name servers, outcomes and doors: never a user, a tool's argument or anything a caller can choose freely. */
export function createMetrics({ connections, exchanges, version }: MetricsParts): Metrics {
  const register = new Registry();
  register.setDefaultLabels({ version });
  collectDefaultMetrics({ register });
  const observe = createCallStats(register);
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
  new Counter({
    name: 'behalf_obo_exchanges_total',
    help: 'Exchanges of users’ tokens by how they ended.',
    labelNames: ['outcome'],
    registers: [register],
    collect() {
      this.reset();
      for (const [outcome, count] of exchanges.outcomes) this.inc({ outcome }, count);
    },
  });
  new Counter({
    name: 'behalf_obo_token_requests_total',
    help: 'Requests made to token endpoints for them.',
    registers: [register],
    collect() {
      this.reset();
      this.inc(exchanges.requests);
    },
  });
  return {
    observe,
    render: () => register.metrics(),
    contentType: register.contentType,
  };
}
