import { StatsView } from '@behalf/contracts';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type HistoryLimits,
  type HistoryRange,
  LATENCY_BUCKETS,
  OTHER_SERVERS,
  bucketOf,
  createCallHistory,
  latencyBounds,
  quantile,
} from './callHistory.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Neither the first moment of a minute nor of a quarter of an hour. */
const START = Date.UTC(2026, 0, 1, 12, 7, 30);

function begin(limits?: HistoryLimits) {
  const clock = createFakeClock(START);
  const history = createCallHistory({ clock, ...(limits && { limits }) });
  const call = (more: { tenant?: string; server?: string; outcome?: string; seconds?: number } = {}) =>
    history.observe({ tenant: 'acme', server: 'one', door: 'rest', outcome: 'ok', seconds: 0.004, ...more });
  const read = (range: HistoryRange = 'hour', tenant = 'acme') => {
    const view = history.read(tenant, range);
    StatsView.parse({ replica: 'r', range, ...view });
    return view;
  };
  /** Where in the period there were calls, and how many. */
  const places = (range: HistoryRange = 'hour', server = 'one') =>
    (read(range).servers.find((one) => one.server === server)?.calls ?? []).flatMap((count, index) =>
      count > 0 ? [[index, count]] : [],
    );
  return { clock, call, read, places };
}

describe('what was called in the last hour and day', () => {
  test('an hour has sixty minutes, a day ninety-six quarters of an hour', () => {
    const { call, read } = begin();
    call();
    const hour = read('hour');
    expect([hour.bucketMs, hour.from]).toEqual([MINUTE_MS, Date.UTC(2026, 0, 1, 11, 8)]);
    const day = read('day');
    expect([day.bucketMs, day.from]).toEqual([15 * MINUTE_MS, Date.UTC(2025, 11, 31, 12, 15)]);
    for (const [{ servers }, length] of [
      [hour, 60],
      [day, 96],
    ] as const) {
      const [{ calls, errors, p50, p95 }] = servers as [(typeof servers)[number]];
      expect([calls, errors, p50, p95].map((list) => list.length)).toEqual([length, length, length, length]);
      expect([calls.at(-1), p50.at(-1), p50[0]]).toEqual([1, expect.any(Number), null]);
    }
  });

  test('a call is in the minute in which it ended, to the millisecond', async () => {
    const { clock, call, places, read } = begin();
    await clock.advance(30 * SECOND_MS - 1);
    call();
    expect(places()).toEqual([[59, 1]]);
    await clock.advance(1);
    expect(places()).toEqual([[58, 1]]);
    call();
    call();
    expect(places()).toEqual([
      [58, 1],
      [59, 2],
    ]);
    expect(places('day')).toEqual([[95, 3]]);
    // The last moment in which the first of them is shown.
    await clock.advance(59 * MINUTE_MS - 1);
    expect(places()[0]).toEqual([0, 1]);
    await clock.advance(1);
    expect(places()).toEqual([[0, 2]]);
    await clock.advance(MINUTE_MS);
    expect(read().servers).toEqual([]);
    expect(places('day')).toEqual([[91, 3]]);
  });

  test('what comes round again is empty, also after a gap', async () => {
    const { clock, call, places } = begin();
    call({ outcome: 'MCP_TIMEOUT' });
    await clock.advance(HOUR_MS);
    expect(places()).toEqual([]);
    call();
    expect(places()).toEqual([[59, 1]]);
    await clock.advance(25 * HOUR_MS);
    expect([places(), places('day')]).toEqual([[], []]);
    call();
    expect([places(), places('day')]).toEqual([[[59, 1]], [[95, 1]]]);
    await clock.advance(DAY_MS - 8 * MINUTE_MS);
    expect(places('day')).toEqual([[0, 1]]);
    await clock.advance(15 * MINUTE_MS);
    expect(places('day')).toEqual([]);
  });

  test('errors are those that ended badly', () => {
    const { call, read } = begin();
    for (const outcome of [
      'ok',
      'cancelled',
      'MCP_APPROVAL_REQUIRED',
      'tool_error',
      'MCP_TIMEOUT',
      'INTERNAL',
    ]) {
      call({ outcome });
    }
    const [reported] = read().servers;
    expect([reported?.calls.at(-1), reported?.errors.at(-1)]).toEqual([6, 3]);
  });

  test('it agrees with a list of all calls', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 20 * MINUTE_MS }), fc.boolean()), { maxLength: 60 }),
        fc.constantFrom<HistoryRange>('hour', 'day'),
        (steps, range) => {
          let now = START;
          const clock = { now: () => now, timer: () => () => undefined };
          const history = createCallHistory({ clock });
          const all: [at: number, failed: boolean][] = [];
          for (const [wait, failed] of steps) {
            now += wait;
            all.push([now, failed]);
            const outcome = failed ? 'MCP_TIMEOUT' : 'ok';
            history.observe({ tenant: 't', server: 's', door: 'rest', outcome, seconds: 1 });
          }
          const { from, bucketMs, servers } = history.read('t', range);
          const slots = range === 'hour' ? 60 : 96;
          const counted = (which: (failed: boolean) => boolean) =>
            Array.from({ length: slots }, (_, slot) => {
              const begins = from + slot * bucketMs;
              return all.filter(([at, failed]) => at >= begins && at < begins + bucketMs && which(failed))
                .length;
            });
          expect(from + slots * bucketMs).toBeGreaterThan(now);
          expect(from + (slots - 1) * bucketMs).toBeLessThanOrEqual(now);
          const expected = counted(() => true);
          expect(servers[0]?.calls ?? new Array(slots).fill(0)).toEqual(expected);
          if (servers[0]) expect(servers[0].errors).toEqual(counted((failed) => failed));
        },
      ),
    );
  });

  test('each tenant has numbers of its own', () => {
    const { call, read } = begin();
    call();
    call({ tenant: 'evil' });
    call({ tenant: 'evil', server: 'theirs' });
    expect(read().servers).toMatchObject([{ server: 'one' }]);
    expect(read().servers[0]?.calls.at(-1)).toBe(1);
    expect(read('hour', 'evil').servers.map(({ server }) => server)).toEqual(['one', 'theirs']);
    expect(read('hour', 'nobody').servers).toEqual([]);
  });

  test('servers that are too many are counted together, and none is lost', async () => {
    const { clock, call, places, read } = begin({ maxPerTenant: 2, maxTotal: 10 });
    for (const server of ['a', 'b', 'c', 'd', 'c']) call({ server });
    expect(read().servers.map(({ server }) => server)).toEqual([OTHER_SERVERS, 'a', 'b']);
    expect(places('hour', OTHER_SERVERS)).toEqual([[59, 3]]);
    await clock.advance(DAY_MS - 1);
    for (const server of ['b', 'c']) call({ server });
    expect(places('hour', OTHER_SERVERS)).toEqual([[59, 1]]);
    // One that has nothing to show makes room.
    await clock.advance(1);
    call({ server: 'c' });
    expect(places('hour', 'c')).toEqual([[59, 1]]);
    expect(read('day').servers.map(({ server }) => server)).toEqual([OTHER_SERVERS, 'b', 'c']);
  });

  test('tenants that are too many cost the quietest their numbers', async () => {
    const { clock, call, read } = begin({ maxPerTenant: 2, maxTotal: 3 });
    for (const tenant of ['a', 'b', 'c']) {
      call({ tenant });
      await clock.advance(1);
    }
    call({ tenant: 'a' });
    call({ tenant: 'd' });
    const remaining = ['a', 'b', 'c', 'd'].filter((tenant) => read('hour', tenant).servers.length > 0);
    expect(remaining).toEqual(['a', 'c', 'd']);
  });
});

describe('durations', () => {
  const counts = (seconds: readonly number[]) => {
    const histogram = new Uint32Array(LATENCY_BUCKETS);
    for (const one of seconds) histogram[bucketOf(one)] = (histogram[bucketOf(one)] ?? 0) + 1;
    return histogram;
  };

  test('they are estimated within the bucket they fall into', () => {
    expect(quantile(0.5, counts([]))).toBeNull();
    // Ten between 50 and 100 ms, as if spread evenly.
    const even = counts(new Array<number>(10).fill(0.07));
    expect([quantile(0.5, even), quantile(0.95, even)]).toEqual([
      expect.closeTo(0.075, 6),
      expect.closeTo(0.0975, 6),
    ]);
    // Nineteen fast ones and a slow one: the slow one is not in the first 95 of a hundred.
    const mixed = counts([...new Array<number>(19).fill(0.001), 3]);
    expect([quantile(0.5, mixed), quantile(0.95, mixed)]).toEqual([expect.closeTo(0.0026, 3), 0.005]);
    expect(quantile(0.95, counts([0.001, 3]))).toBeGreaterThan(2.5);
    // Of what took longer than the last bound nothing more is known.
    expect(quantile(0.5, counts([61, 900]))).toBe(60);
  });

  test('an estimate lies in the bucket of the true value', () => {
    const durations = fc.array(fc.double({ min: 0, max: 59, noNaN: true }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(durations, fc.constantFrom(0.5, 0.95), (seconds, share) => {
        const estimate = quantile(share, counts(seconds)) ?? NaN;
        const sorted = [...seconds].sort((a, b) => a - b);
        const bucket = bucketOf(sorted[Math.ceil(share * sorted.length) - 1] ?? NaN);
        expect(estimate).toBeGreaterThanOrEqual(latencyBounds[bucket - 1] ?? 0);
        expect(estimate).toBeLessThanOrEqual(latencyBounds[bucket] ?? 60);
      }),
    );
  });

  test('they are told in milliseconds', () => {
    const { call, read } = begin();
    for (let i = 0; i < 10; i += 1) call({ seconds: 0.07 });
    const [reported] = read().servers;
    expect([reported?.p50.at(-1), reported?.p95.at(-1)]).toEqual([75, 97.5]);
  });
});
