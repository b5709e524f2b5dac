import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createStoreTime } from './read.ts';

describe('the time of the store', () => {
  test('is waited for by all who come before it is known', async () => {
    const local = createFakeClock();
    const pendingRequests: ((now: number) => void)[] = [];
    const time = createStoreTime(
      { now: () => new Promise((resolve) => pendingRequests.push(resolve)) },
      local,
    );
    const seen: number[] = [];
    const readers = [0, 1, 2].map(async () => {
      await time.sample();
      seen.push(time.clock.now() - local.now());
    });
    await Promise.resolve();
    expect(seen).toEqual([]);
    expect(pendingRequests).toHaveLength(1);
    pendingRequests[0]?.(local.now() + 300_000);
    await Promise.all(readers);
    expect(seen).toEqual([300_000, 300_000, 300_000]);
    // Known for a while; then it is compared again.
    await time.sample();
    expect(pendingRequests).toHaveLength(1);
    await local.advance(60_000);
    const again = time.sample();
    pendingRequests[1]?.(local.now() + 200_000);
    await again;
    expect(time.clock.now() - local.now()).toBe(200_000);
  });

  test('that is not told leaves what is known, and is asked for again', async () => {
    const local = createFakeClock();
    let isDown = true;
    let requestCount = 0;
    const now = async () => {
      requestCount += 1;
      if (isDown) throw new Error('The store does not answer');
      return local.now() - 5_000;
    };
    const time = createStoreTime({ now }, local);
    await time.sample();
    expect(time.clock.now()).toBe(local.now());
    isDown = false;
    await time.sample();
    expect(time.clock.now()).toBe(local.now() - 5_000);
    expect(requestCount).toBe(2);
  });
});
