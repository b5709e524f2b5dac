import type { ServerSnapshot } from '@behalf/gateway';
import { aPrincipal } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createExchangeStats, createRefreshStats, createSignInStats } from './counters.ts';
import { createMetrics, createServerLabel } from './metrics.ts';

describe('metrics', () => {
  test('a server that a user stored has no label of its own', () => {
    const server = (source: string) => ({ source, name: 'planted' }) as unknown as ServerSnapshot;
    const labelOf = (found: ServerSnapshot | undefined) =>
      createServerLabel({ find: () => found })(aPrincipal(), 'planted');
    expect(labelOf(server('user'))).toBe('(of a user)');
    expect(labelOf(undefined)).toBe('(unknown)');
    for (const source of ['yaml', 'config']) expect(labelOf(server(source))).toBe('planted');
  });

  test('connections are counted by kind when they are read', async () => {
    let shared = 1;
    const exchanges = createExchangeStats();
    const metrics = createMetrics({
      exchanges,
      refreshes: createRefreshStats(),
      signInStats: createSignInStats(),
      history: { observe: () => undefined },
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

  test('what became of tokens and sign-ins is counted by outcome', async () => {
    const refreshes = createRefreshStats();
    const signInStats = createSignInStats();
    const metrics = createMetrics({
      ...{ refreshes, signInStats, exchanges: createExchangeStats() },
      history: { observe: () => undefined },
      connections: () => ({ shared: 0, user: 0, stateless: 0, breakersOpen: 0 }),
      version: '0.0.0',
    });
    const quiet = await metrics.render();
    // There from the start, so that an alert on their growth sees the first one.
    expect(quiet).toContain('behalf_lost_rotations_total{version="0.0.0"} 0');
    expect(quiet).toContain('behalf_token_pairs_not_stored_total{version="0.0.0"} 0');
    for (const outcome of ['ok', 'ok', 'lost_rotation']) refreshes.count(outcome);
    refreshes.countNotStored();
    signInStats.count({ ok: true });
    signInStats.count({ ok: false, error: 'access_denied' });
    signInStats.count({ ok: false });
    const text = await metrics.render();
    for (const line of [
      'behalf_token_refreshes_total{outcome="ok",version="0.0.0"} 2',
      'behalf_token_refreshes_total{outcome="lost_rotation",version="0.0.0"} 1',
      'behalf_lost_rotations_total{version="0.0.0"} 1',
      'behalf_token_pairs_not_stored_total{version="0.0.0"} 1',
      'behalf_sign_ins_total{outcome="ok",version="0.0.0"} 1',
      'behalf_sign_ins_total{outcome="access_denied",version="0.0.0"} 1',
      'behalf_sign_ins_total{outcome="callback_failed",version="0.0.0"} 1',
    ]) {
      expect(text).toContain(line);
    }
  });
});
