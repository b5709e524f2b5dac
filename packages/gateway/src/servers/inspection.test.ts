import { createRandom } from '@behalf/kernel';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createAppSnapshot, createUserSnapshot } from '../../test/servers.ts';
import type { ServerClaims } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { AppServer } from '../definitions/definition.ts';
import { type InspectionOptions, type InspectionResult, createInspectionScheduler } from './inspection.ts';

const claims: ServerClaims = {
  era: 'modern',
  protocolVersion: '2026-07-28',
  name: 'fake',
  version: '1',
  instructions: undefined,
  capabilities: {},
};
const found: InspectionResult = { claims, toolCount: 3 };
const down = () => Promise.reject(new UpstreamError('connect_failed'));

/** `answer` decides by name what a look at a server gives. */
function rig(answer: (name: string, look: InspectionOptions) => Promise<InspectionResult>) {
  const clock = createFakeClock();
  const looks: string[] = [];
  const inspection = createInspectionScheduler({
    clock,
    // Jitter at its largest, so that times are whole.
    random: createRandom((length) => new Uint8Array(length).fill(255)),
    log: () => undefined,
    onSignInRequired: () => undefined,
    inspect: (server, look) => {
      looks.push(server.id);
      return answer(server.id, look);
    },
  });
  return { clock, looks, inspection };
}
const named = (id: string) => createAppSnapshot({}, { id });
const hang = () => new Promise<InspectionResult>(() => undefined);

describe('inspection', () => {
  test('one that fails or hangs leaves the others alone', async () => {
    const servers = ['good', 'bad', 'hanging', 'late'].map(named) as [
      AppServer,
      AppServer,
      AppServer,
      AppServer,
    ];
    const { clock, inspection } = rig(async (name) => {
      if (name === 'bad') return down();
      if (name === 'hanging') return hang();
      return found;
    });
    inspection.update(servers);
    expect(servers.map((server) => inspection.getState(server).kind)).toEqual(servers.map(() => 'pending'));
    const startedAt = clock.now();
    await clock.advance(0);
    const [good, bad, hanging, late] = servers;
    expect(inspection.getState(good)).toEqual({ kind: 'ok', claims, toolCount: 3, durationMs: 0 });
    expect(inspection.getState(late).kind).toBe('ok');
    expect(inspection.getState(bad)).toMatchObject({
      kind: 'failed',
      code: 'MCP_UNREACHABLE',
      since: startedAt,
    });
    expect(inspection.getState(hanging).kind).toBe('pending');
    await clock.advance(29_999);
    expect(inspection.getState(hanging).kind).toBe('pending');
    await clock.advance(1);
    expect(inspection.getState(hanging)).toMatchObject({ kind: 'failed', code: 'MCP_TIMEOUT' });
    inspection.close();
  });

  test('at most eight are looked at at once, and all in the end', async () => {
    const open = new Set<(inspected: InspectionResult) => void>();
    let most = 0;
    const { clock, looks, inspection } = rig(
      () =>
        new Promise((resolve) => {
          open.add(resolve);
          most = Math.max(most, open.size);
        }),
    );
    const servers = Array.from({ length: 30 }, (_, i) => named(`s${i}`));
    inspection.update(servers);
    await clock.advance(0);
    expect(looks).toHaveLength(8);
    while (open.size > 0) {
      for (const finish of open) {
        open.delete(finish);
        finish(found);
      }
      await clock.advance(0);
    }
    expect(looks).toHaveLength(30);
    expect(most).toBe(8);
    expect(servers.every((server) => inspection.getState(server).kind === 'ok')).toBe(true);
    inspection.close();
  });

  test('a server that needs a user, or says so, is not looked at', async () => {
    const { clock, looks, inspection } = rig(async () => found);
    const servers = [
      createUserSnapshot({ requiresOAuth: true }),
      createUserSnapshot({ obo: { scopes: 'a' } }),
      createUserSnapshot({ startup: false }),
      createUserSnapshot({ customUserVars: { A: { title: 'A', description: '' } } }),
      createUserSnapshot({}, { source: 'user' }),
    ];
    inspection.update(servers);
    await clock.advance(60_000);
    expect(looks).toEqual([]);
    for (const server of servers) expect(inspection.getState(server)).toEqual({ kind: 'skipped' });
  });

  test('a failure is tried again, ever less often, until it works', async () => {
    let works = false;
    const { clock, looks, inspection } = rig(() => (works ? Promise.resolve(found) : down()));
    const server = named('a');
    inspection.update([server]);
    await clock.advance(0);
    const since = clock.now();
    for (const [wait, count] of [
      [30_000, 2],
      [60_000, 3],
      [120_000, 4],
      [240_000, 5],
      [300_000, 6],
      [300_000, 7],
    ] as const) {
      await clock.advance(wait - 1_000);
      expect(looks).toHaveLength(count - 1);
      await clock.advance(1_000);
      expect(looks).toHaveLength(count);
      expect(inspection.getState(server)).toMatchObject({ kind: 'failed', since });
    }
    works = true;
    await clock.advance(300_000);
    expect(inspection.getState(server).kind).toBe('ok');
    await clock.advance(3_600_000);
    expect(looks).toHaveLength(8);
  });

  test('a failed override is remembered for five minutes', async () => {
    const { clock, looks, inspection } = rig(down);
    const override = createAppSnapshot({}, { id: 'a', source: 'config' });
    inspection.update([override]);
    await clock.advance(299_999);
    expect(looks).toHaveLength(1);
    expect(inspection.getState(override)).toMatchObject({ kind: 'failed' });
    // Another tenant's, and the base, are judged for themselves.
    expect(inspection.getState({ ...override, tenant: 'other' })).toEqual({ kind: 'skipped' });
    await clock.advance(1);
    expect(looks).toHaveLength(2);
    inspection.close();
  });

  test('a changed server is looked at anew, one that is gone is forgotten', async () => {
    const signals: AbortSignal[] = [];
    const { clock, looks, inspection } = rig((_, { signal }) => {
      signals.push(signal);
      return signals.length === 1 ? down() : hang();
    });
    const first = named('a');
    const second = createAppSnapshot({ timeout: 5 }, { id: 'a' });
    inspection.update([first]);
    await clock.advance(0);
    inspection.update([first]);
    await clock.advance(0);
    expect(looks).toHaveLength(1);
    inspection.update([second]);
    expect(inspection.getState(first)).toEqual({ kind: 'skipped' });
    expect(inspection.getState(second)).toEqual({ kind: 'pending' });
    await clock.advance(0);
    expect(looks).toHaveLength(2);
    inspection.update([]);
    expect(signals[1]?.aborted).toBe(true);
    await clock.advance(600_000);
    expect(looks).toHaveLength(2);
  });

  test('a failed one is looked at on demand; a healthy or unknown one is not', async () => {
    let works = false;
    const { clock, looks, inspection } = rig(() => (works ? Promise.resolve(found) : down()));
    const server = named('a');
    inspection.update([server]);
    await expect(inspection.reinspect(server)).rejects.toMatchObject({ code: 'MCP_INSPECTION_FAILED' });
    await clock.advance(0);
    const again = await Promise.all([inspection.reinspect(server), inspection.reinspect(server)]);
    expect(again.map(({ kind }) => kind)).toEqual(['failed', 'failed']);
    expect(looks).toHaveLength(2);
    works = true;
    expect(await inspection.reinspect(server)).toMatchObject({ kind: 'ok', toolCount: 3 });
    await expect(inspection.reinspect(server)).rejects.toMatchObject({ code: 'MCP_INSPECTION_FAILED' });
    await expect(inspection.reinspect(named('b'))).rejects.toMatchObject({ code: 'MCP_INSPECTION_FAILED' });
    await clock.advance(600_000);
    expect(looks).toHaveLength(3);
  });

  test('who asked and left is released; the look goes on', async () => {
    let finish: (inspected: InspectionResult) => void = () => undefined;
    let first = true;
    const { clock, inspection } = rig(() => {
      if (!first) return new Promise((resolve) => (finish = resolve));
      first = false;
      return down();
    });
    const server = named('a');
    inspection.update([server]);
    await clock.advance(0);
    const abortController = new AbortController();
    const pending = inspection.reinspect(server, abortController.signal);
    await clock.advance(0);
    abortController.abort();
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' });
    finish(found);
    await clock.advance(0);
    expect(inspection.getState(server).kind).toBe('ok');
  });

  test('a look on request says so, also when one in the background is under way', async () => {
    const requests: boolean[] = [];
    const fail: (() => void)[] = [];
    const { clock, inspection } = rig((_, { bypassesBreaker }) => {
      requests.push(bypassesBreaker);
      return new Promise((_resolve, reject) => fail.push(() => reject(new UpstreamError('breaker_open'))));
    });
    const server = named('a');
    inspection.update([server]);
    await clock.advance(0);
    fail[0]!();
    // The second look in the background is under way when somebody asks.
    await clock.advance(30_000);
    const first = inspection.reinspect(server);
    const second = inspection.reinspect(server);
    await clock.advance(0);
    expect(requests).toEqual([false, false]);
    fail[1]!();
    await clock.advance(0);
    expect(requests).toEqual([false, false, true]);
    fail[2]!();
    expect([(await first).kind, (await second).kind]).toEqual(['failed', 'failed']);
    inspection.close();
  });

  test('however often somebody asks, the next look in the background comes as planned', async () => {
    const { clock, looks, inspection } = rig(down);
    const server = named('a');
    inspection.update([server]);
    await clock.advance(0);
    const planned = clock.now() + 30_000;
    for (let i = 0; i < 10; i += 1) {
      await clock.advance(2_000);
      expect(await inspection.reinspect(server)).toMatchObject({ retryAt: planned });
    }
    expect(looks).toHaveLength(11);
    await clock.advance(9_999);
    expect(looks).toHaveLength(11);
    await clock.advance(1);
    expect(looks).toHaveLength(12);
    // And the one after it as if nobody had asked.
    expect(inspection.getState(server)).toMatchObject({ retryAt: clock.now() + 60_000 });
    inspection.close();
  });

  test('one that falls due while somebody’s look is under way is made up for', async () => {
    let fail: () => void = () => undefined;
    let first = true;
    const { clock, looks, inspection } = rig(() => {
      if (!first) return new Promise((_, reject) => (fail = () => reject(new UpstreamError('timeout'))));
      first = false;
      return down();
    });
    const server = named('a');
    inspection.update([server]);
    await clock.advance(20_000);
    const pending = inspection.reinspect(server);
    await clock.advance(15_000);
    fail();
    expect(await pending).toMatchObject({ kind: 'failed', retryAt: clock.now() + 60_000 });
    expect(looks).toHaveLength(2);
    await clock.advance(60_000);
    expect(looks).toHaveLength(3);
    inspection.close();
  });
});
