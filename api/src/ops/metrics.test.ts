import type { ServerSnapshot } from '@behalf/gateway';
import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { createExchangeStats } from './exchangeStats.ts';
import { createMetrics, serverLabel } from './metrics.ts';

describe('metrics', () => {
  verifies('rest.metrics.labels', 'a server that a user stored has no label of its own', () => {
    const server = (source: string) => ({ source, name: 'planted' }) as unknown as ServerSnapshot;
    expect(serverLabel(server('user'))).toBe('(of a user)');
    expect(serverLabel(undefined)).toBe('(unknown)');
    for (const source of ['yaml', 'config']) expect(serverLabel(server(source))).toBe('planted');
  });

  verifies('rest.metrics.labels', 'connections are counted by kind when they are read', async () => {
    let shared = 1;
    const exchanges = createExchangeStats();
    const metrics = createMetrics({
      exchanges,
      connections: () => ({ shared, user: 2, stateless: 3, breakersOpen: 4 }),
      version: '0.0.0',
    });
    shared = 7;
    exchanges.count('ok', 1);
    exchanges.count('ok', 2);
    exchanges.count('OBO_REJECTED', 1);
    // Collected twice, counted once.
    await metrics.render();
    const text = await metrics.render();
    for (const line of [
      'behalf_obo_exchanges_total{outcome="ok",version="0.0.0"} 2',
      'behalf_obo_exchanges_total{outcome="OBO_REJECTED",version="0.0.0"} 1',
      'behalf_obo_token_requests_total{version="0.0.0"} 4',
      'behalf_connections{kind="shared",version="0.0.0"} 7',
      'behalf_connections{kind="user",version="0.0.0"} 2',
      'behalf_connections{kind="stateless",version="0.0.0"} 3',
      'behalf_breakers_open{version="0.0.0"} 4',
    ]) {
      expect(text).toContain(line);
    }
  });
});
