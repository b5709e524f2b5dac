import { createFakeClock, eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { abortReason, sleep, systemClock } from './clock.ts';

describe('sleep', () => {
  test('ends when the time is over, not before', async () => {
    const clock = createFakeClock();
    let awake = false;
    const sleeping = sleep(clock, 1_000).then(() => (awake = true));
    await clock.advance(999);
    expect(awake).toBe(false);
    await clock.advance(1);
    await sleeping;
  });

  test('ends at once with the reason of an abort, and leaves no timer', async () => {
    const clock = createFakeClock();
    let fired = 0;
    const counted = {
      ...clock,
      timer: (ms: number, fn: () => void) => clock.timer(ms, () => (fn(), (fired += 1))),
    };
    const controller = new AbortController();
    const sleeping = sleep(counted, 1_000, controller.signal);
    const reason = new Error('changed my mind');
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    await clock.advance(10_000);
    expect(fired).toBe(0);
    await expect(sleep(counted, 1_000, controller.signal)).rejects.toBe(reason);
  });

  test('an abort afterwards changes nothing', async () => {
    const clock = createFakeClock();
    const controller = new AbortController();
    const sleeping = sleep(clock, 10, controller.signal);
    await clock.advance(10);
    await sleeping;
    controller.abort();
    await sleeping;
  });

  test('a reason that is no Error becomes one', () => {
    expect(abortReason(AbortSignal.abort('text'))).toMatchObject({ name: 'AbortError' });
    const reason = new TypeError('x');
    expect(abortReason(AbortSignal.abort(reason))).toBe(reason);
  });
});

describe('systemClock', () => {
  test('a timer of more than 25 days does not fire at once', async () => {
    let fired = false;
    let later = false;
    const cancel = systemClock.timer(2 ** 31 + 5, () => (fired = true));
    systemClock.timer(15, () => (later = true));
    await eventually('a later timer to fire', () => later);
    expect(fired).toBe(false);
    cancel();
  });

  test('a pending timer does not keep the process alive, and a cancelled one does not fire', async () => {
    const alive = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = alive();
    let fired = false;
    const cancel = systemClock.timer(5, () => (fired = true));
    expect(alive()).toBe(before);
    cancel();
    cancel();
    let later = false;
    systemClock.timer(15, () => (later = true));
    await eventually('a later timer to fire', () => later);
    expect(fired).toBe(false);
  });
});

describe('the fake clock', () => {
  test('fires timers in the order of their times, each at its time', async () => {
    const clock = createFakeClock(1_000);
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name} at ${clock.now()}`);
    clock.timer(30, note('c'));
    clock.timer(10, note('a'));
    const cancel = clock.timer(15, note('cancelled'));
    clock.timer(20, note('b'));
    cancel();
    await clock.advance(25);
    expect(fired).toEqual(['a at 1010', 'b at 1020']);
    expect(clock.now()).toBe(1_025);
    await clock.advance(5);
    expect(fired.at(-1)).toBe('c at 1030');
  });

  test('lets what one timer wakes set the next, within one advance', async () => {
    const clock = createFakeClock(0);
    const at: number[] = [];
    const beat = async () => {
      for (let i = 0; i < 4; i += 1) {
        await sleep(clock, 100);
        at.push(clock.now());
      }
    };
    const beating = beat();
    await clock.advance(1_000);
    await beating;
    expect(at).toEqual([100, 200, 300, 400]);
  });
});
