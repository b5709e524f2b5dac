import { type HeldLease, systemRandom } from '@behalf/kernel';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createMemoryLeases } from '../../../testkit/src/memoryStore/coordination.ts';
import { type WithLeaseOptions, acquireLease, withLease } from './withLease.ts';

const request = { key: 'k', purpose: 'maintenance', ttlMs: 1_000 } as const;

function createRig() {
  const clock = createFakeClock();
  const leases = createMemoryLeases({ clock, random: systemRandom });
  const run = <T>(work: () => Promise<T>, options: Partial<WithLeaseOptions<T>> = {}) =>
    withLease({ leases, clock }, { ...request, waitMs: 500, ...options }, work);
  const unreachable = {
    acquire: () => Promise.reject(new Error('unreachable')),
    findHolder: () => Promise.reject(new Error('unreachable')),
  };
  return { clock, leases, run, unreachable };
}

describe('withLease', () => {
  test('two callers of one key run one after the other, and the lease is released after a failure', async () => {
    const { clock, run } = createRig();
    const log: string[] = [];
    let finish = () => {};
    const first = run(async () => {
      log.push('first');
      await new Promise<void>((resolve) => (finish = resolve));
      throw new Error('failed');
    });
    const second = run(async () => log.push('second'));
    await clock.advance(100);
    expect(log).toEqual(['first']);
    finish();
    await expect(first).rejects.toThrow('failed');
    await clock.advance(50);
    await second;
    expect(log).toEqual(['first', 'second']);
  });

  test('a caller that waited too long fails with STORE_UNAVAILABLE, or as onBusy says', async () => {
    const { clock, leases, run } = createRig();
    const holder = (await leases.acquire('k', 'maintenance', 60_000)) as HeldLease;
    const outcomes = Promise.allSettled([
      run(async () => 'ran'),
      run(async () => 'ran', { onBusy: () => new Error('busy') }),
      run(async () => 'ran', { onBusy: 'run' }),
    ]);
    await clock.advance(500);
    expect(await outcomes).toMatchObject([
      { status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } },
      { status: 'rejected', reason: { message: 'busy' } },
      { status: 'fulfilled', value: 'ran' },
    ]);
    await holder.release();
  });

  test('a caller that waits takes the result of the holder instead of running', async () => {
    const { clock, leases, run } = createRig();
    await leases.acquire('k', 'maintenance', 60_000);
    const shared: { result?: string } = {};
    const waiting = run(() => Promise.reject(new Error('must not run')), {
      findResult: async () => shared.result,
    });
    await clock.advance(100);
    shared.result = 'from the holder';
    await clock.advance(50);
    expect(await waiting).toBe('from the holder');
  });

  test('the result is looked for again after the lease is acquired', async () => {
    const { run } = createRig();
    const found = await run(() => Promise.reject(new Error('must not run')), {
      findResult: async () => 'found',
    });
    expect(found).toBe('found');
  });

  test('work that outlives the lease fails at its next check', async () => {
    const { clock, leases } = createRig();
    const outcome = withLease({ leases, clock }, { ...request, waitMs: 0 }, async ({ assertHeld }) => {
      await assertHeld();
      await new Promise<void>((resolve) => clock.timer(1_001, resolve));
      await leases.acquire('k', 'maintenance', 60_000);
      await assertHeld();
    });
    const settled = Promise.allSettled([outcome]);
    await clock.advance(1_001);
    expect(await settled).toMatchObject([{ status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } }]);
  });

  test('an unreachable lease store fails the call, unless the caller accepts to run without a lease', async () => {
    const { clock, unreachable } = createRig();
    const parts = { leases: unreachable, clock };
    await expect(withLease(parts, { ...request, waitMs: 0 }, async () => 'ran')).rejects.toThrow(
      'unreachable',
    );
    const errors: unknown[] = [];
    const options = {
      ...request,
      waitMs: 0,
      onUnavailable: async (error: unknown) => void errors.push(error),
    };
    expect(await withLease(parts, options, async () => 'ran')).toBe('ran');
    expect(errors).toEqual([new Error('unreachable')]);
  });
});

describe('acquireLease', () => {
  test('the heartbeat extends the lease until it is released', async () => {
    const { clock, leases } = createRig();
    const lease = await acquireLease({ leases, clock }, { ...request, heartbeat: { intervalMs: 400 } });
    await clock.advance(5_000);
    expect(await leases.acquire('k', 'maintenance', 1_000)).toBeNull();
    await lease?.release();
    expect(await leases.acquire('k', 'maintenance', 1_000)).not.toBeNull();
  });

  test('the heartbeat stops after maxHoldMs, so that the lease expires', async () => {
    const { clock, leases } = createRig();
    await acquireLease({ leases, clock }, { ...request, heartbeat: { intervalMs: 400, maxHoldMs: 2_000 } });
    await clock.advance(1_900);
    expect(await leases.acquire('k', 'maintenance', 1_000)).toBeNull();
    await clock.advance(1_200);
    expect(await leases.acquire('k', 'maintenance', 1_000)).not.toBeNull();
  });

  test('an extension that hangs does not stop the heartbeat', async () => {
    const { clock, leases } = createRig();
    let extensions = 0;
    const hanging = {
      ...leases,
      async acquire(...args: Parameters<typeof leases.acquire>) {
        const lease = (await leases.acquire(...args)) as HeldLease;
        const extend = (ttlMs: number) => {
          extensions += 1;
          return extensions === 1 ? new Promise<boolean>(() => undefined) : lease.extend(ttlMs);
        };
        return { ...lease, extend };
      },
    };
    await acquireLease({ leases: hanging, clock }, { ...request, heartbeat: { intervalMs: 300 } });
    await clock.advance(3_000);
    expect(await leases.acquire('k', 'maintenance', 1_000)).toBeNull();
  });

  test('a lost lease is reported once, and the heartbeat ends', async () => {
    const { clock, leases } = createRig();
    let lost = 0;
    let beats = 0;
    const heartbeat = {
      intervalMs: 1_500,
      onBeat: async () => void (beats += 1),
      onLost: () => void (lost += 1),
    };
    await acquireLease({ leases, clock }, { ...request, heartbeat });
    await clock.advance(1_400);
    await leases.acquire('k', 'maintenance', 60_000);
    await clock.advance(10_000);
    expect([lost, beats]).toEqual([1, 1]);
  });

  test('while the store does not answer, the lease counts as held until it expires', async () => {
    const { clock, leases } = createRig();
    let isDown = false;
    let lost = 0;
    const flaky = {
      ...leases,
      async acquire(...args: Parameters<typeof leases.acquire>) {
        const lease = await leases.acquire(...args);
        const extend = async (ttlMs: number) => {
          if (isDown) throw new Error('unreachable');
          return (lease as HeldLease).extend(ttlMs);
        };
        return lease && { ...lease, extend };
      },
    };
    const heartbeat = { intervalMs: 300, onLost: () => void (lost += 1) };
    await acquireLease({ leases: flaky, clock }, { ...request, heartbeat });
    await clock.advance(600);
    isDown = true;
    await clock.advance(900);
    expect(lost).toBe(0);
    await clock.advance(300);
    expect(lost).toBe(1);
  });

  test('a lease that arrives after the request timed out is released', async () => {
    const { clock, leases } = createRig();
    const slow = {
      ...leases,
      async acquire(...args: Parameters<typeof leases.acquire>) {
        await new Promise<void>((resolve) => clock.timer(500, resolve));
        return leases.acquire(...args);
      },
    };
    const acquiring = Promise.allSettled([
      acquireLease({ leases: slow, clock }, { ...request, requestTimeoutMs: 100 }),
    ]);
    await clock.advance(100);
    expect(await acquiring).toMatchObject([{ status: 'rejected' }]);
    await clock.advance(500);
    expect(await leases.acquire('k', 'maintenance', 1_000)).not.toBeNull();
  });
});
