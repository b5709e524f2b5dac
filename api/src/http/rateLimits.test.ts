import { GatewayError } from '@behalf/gateway';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRateLimits, createTokenBuckets } from './limits.ts';

/** Nothing here waits for a timer: a clock that is only read. */
function handClock() {
  let now = 0;
  return { now: () => now, timer: () => () => undefined, pass: (ms: number) => void (now += ms) };
}

const ada = { tenant: 'default', userId: 'ada' };

/** What a check throws: its code and the wait it names. */
function refusal(check: () => void): [string, number | undefined] | 'taken' {
  try {
    check();
    return 'taken';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.code, error.retryAfterMs];
  }
}

describe('rate limits', () => {
  test('a minute’s worth at once, then as fast as the limit says', async () => {
    const clock = createFakeClock();
    const limits = createRateLimits({ clock, perMinute: { calls: 60, writes: 2 } });
    const call = () => refusal(() => limits.consume(ada, 'calls'));
    const write = () => refusal(() => limits.consume(ada, 'writes'));
    expect(Array.from({ length: 60 }, call)).toEqual(Array.from({ length: 60 }, () => 'taken'));
    expect(call()).toEqual(['MCP_RATE_LIMITED', 1_000]);
    // The other class has its own limit, and its own code.
    expect([write(), write(), write()]).toEqual(['taken', 'taken', ['RATE_LIMITED', 30_000]]);
    await clock.advance(999);
    expect(call()).toEqual(['MCP_RATE_LIMITED', 1]);
    await clock.advance(1);
    expect([call(), call()]).toEqual(['taken', ['MCP_RATE_LIMITED', 1_000]]);
    // However long they were away, nobody saves up more than a minute's worth.
    for (const away of [100_000, 3_600_000]) {
      await clock.advance(away);
      expect(Array.from({ length: 200 }, call).filter((answer) => answer === 'taken')).toHaveLength(60);
    }
  });

  test('one caller’s haste is nobody else’s', () => {
    const limits = createRateLimits({ clock: createFakeClock(), perMinute: { calls: 1, writes: 1 } });
    for (const caller of [
      ada,
      { tenant: 'other', userId: 'ada' },
      { tenant: 'default', userId: 'bob' },
      { tenant: 'defaultbo', userId: 'b' },
    ]) {
      expect(refusal(() => limits.consume(caller, 'calls'))).toBe('taken');
      expect(refusal(() => limits.consume(caller, 'calls'))).toEqual(['MCP_RATE_LIMITED', 60_000]);
    }
  });

  test('nobody gets more than the limit in any minute after the first', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 60 }), (waits) => {
        const clock = handClock();
        const limit = 5;
        const buckets = createTokenBuckets({ clock, perMinute: limit, maxBuckets: 100 });
        const allowed: number[] = [];
        for (const wait of waits) {
          clock.pass(wait);
          // Others come and go, and generations with them.
          buckets.consume('', `other-${wait}`);
          for (let i = 0; i < 3; i += 1) if (buckets.consume('', 'ada') === 0) allowed.push(clock.now());
        }
        for (const at of allowed) {
          const inMinute = allowed.filter((other) => other >= at && other < at + 60_000);
          expect(inMinute.length).toBeLessThanOrEqual(2 * limit);
        }
        const span = (allowed.at(-1) ?? 0) - (allowed[0] ?? 0);
        expect(allowed.length).toBeLessThanOrEqual(limit + Math.floor((span * limit) / 60_000) + 1);
      }),
      { numRuns: 200 },
    );
  });

  test('the idle are forgotten, and a crowd cannot fill the memory', async () => {
    const clock = createFakeClock();
    const buckets = createTokenBuckets({ clock, perMinute: 1, maxBuckets: 100 });
    let largest = 0;
    for (let i = 0; i < 10_000; i += 1) {
      buckets.consume(`tenant-${i % 3}`, `user-${i}`);
      largest = Math.max(largest, buckets.size);
    }
    expect(largest).toBeLessThanOrEqual(100);
    await clock.advance(120_000);
    buckets.consume('', 'ada');
    expect(buckets.size).toBe(1);
    // Only looking leaves nothing behind.
    buckets.peek('', 'bob');
    expect(buckets.size).toBe(1);
  });

  test('who keeps coming stays known while others come and go', async () => {
    const clock = createFakeClock();
    const buckets = createTokenBuckets({ clock, perMinute: 10, maxBuckets: 1_000 });
    let acceptedCount = 0;
    for (let second = 0; second < 300; second += 1) {
      buckets.consume('', `other-${second}`);
      if (buckets.consume('', 'ada') === 0) acceptedCount += 1;
      await clock.advance(1_000);
    }
    expect(acceptedCount).toBe(59);
  });

  test('after 300 refused tokens a minute no more are looked at', async () => {
    const clock = createFakeClock();
    const limits = createRateLimits({ clock, perMinute: { calls: 1, writes: 1 } });
    const check = (address: string) => refusal(() => limits.checkAddress(address));
    for (let i = 0; i < 300; i += 1) {
      expect(check('192.0.2.1')).toBe('taken');
      limits.recordRefusal('192.0.2.1');
      limits.recordRefusal(`2001:db8::${i.toString(16)}`);
    }
    expect(check('192.0.2.1')).toEqual(['RATE_LIMITED', 200]);
    // Looking does not prolong it, and neither do refusals beyond the limit.
    limits.recordRefusal('192.0.2.1');
    await clock.advance(200);
    expect(check('192.0.2.1')).toBe('taken');
    expect(check('192.0.2.2')).toBe('taken');
    expect(check('2001:db8:0:0:ffff::1')).toBe('taken');
    for (let i = 0; i < 300; i += 1) limits.recordRefusal('2001:db8::1');
    // The whole /64 counts as one; its neighbour does not.
    expect(check('2001:db8:0:0:ffff::1')).toEqual(['RATE_LIMITED', 200]);
    expect(check('2001:db8:0:1::1')).toBe('taken');
  });
});
