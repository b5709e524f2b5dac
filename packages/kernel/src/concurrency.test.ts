import { describe, expect, test } from '@jest/globals';
import {
  AutoResetEvent,
  KeyedMutex,
  LightCancellation,
  Semaphore,
  SemaphoreFull,
  coalesce,
} from './index.ts';

/** A promise that the test settles. */
function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('Semaphore', () => {
  test('never runs more callers at once than it permits, and starts waiting callers in order', async () => {
    const semaphore = new Semaphore(2);
    const gates = [createGate(), createGate(), createGate(), createGate()];
    const started: number[] = [];
    const runs = gates.map((gate, index) =>
      semaphore.run(async () => {
        started.push(index);
        await gate.opened;
        return index;
      }),
    );
    await settle();
    expect(started).toEqual([0, 1]);
    gates[1]?.open();
    await settle();
    expect(started).toEqual([0, 1, 2]);
    gates.forEach(({ open }) => open());
    expect(await Promise.all(runs)).toEqual([0, 1, 2, 3]);
  });

  test('releases the permit when work fails', async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await semaphore.run(async () => 'ran')).toBe('ran');
  });

  test('rejects a caller when the queue is full, without running its work', async () => {
    const semaphore = new Semaphore(1, { maxWaiting: 1 });
    const gate = createGate();
    const first = semaphore.run(() => gate.opened);
    const second = semaphore.run(async () => 'second');
    let hasRun = false;
    const third = semaphore.run(async () => {
      hasRun = true;
    });
    await expect(third).rejects.toBeInstanceOf(SemaphoreFull);
    gate.open();
    await first;
    expect([await second, hasRun]).toEqual(['second', false]);
  });
});

describe('KeyedMutex', () => {
  test('serializes work under one key and runs other keys concurrently', async () => {
    const mutex = new KeyedMutex();
    const gate = createGate();
    const log: string[] = [];
    const first = mutex.run('a', async () => {
      await gate.opened;
      log.push('a1');
    });
    const second = mutex.run('a', async () => void log.push('a2'));
    await mutex.run('b', async () => void log.push('b1'));
    expect(log).toEqual(['b1']);
    gate.open();
    await Promise.all([first, second]);
    expect(log).toEqual(['b1', 'a1', 'a2']);
  });

  test('a caller that aborts while it waits does not let the next caller overtake the current one', async () => {
    const mutex = new KeyedMutex();
    const gate = createGate();
    const log: string[] = [];
    const signal = new LightCancellation();
    const first = mutex.run('a', async () => {
      await gate.opened;
      log.push('first');
    });
    const aborted = mutex.run('a', async () => void log.push('aborted'), signal);
    const third = mutex.run('a', async () => void log.push('third'));
    signal.abort(new Error('left'));
    await expect(aborted).rejects.toThrow('left');
    await settle();
    expect(log).toEqual([]);
    gate.open();
    await Promise.all([first, third]);
    expect(log).toEqual(['first', 'third']);
  });
});

describe('AutoResetEvent', () => {
  test('wakes the waiting loop, and remembers one signal while nothing waits', async () => {
    const event = new AutoResetEvent();
    event.set();
    event.set();
    await event.wait();
    let isAwake = false;
    const waiting = event.wait().then(() => (isAwake = true));
    await settle();
    expect(isAwake).toBe(false);
    event.set();
    await waiting;
    expect(isAwake).toBe(true);
  });
});

describe('coalesce', () => {
  test('shares one further run among all calls that arrive during a run', async () => {
    const gates = [createGate(), createGate()];
    let runs = 0;
    const run = coalesce(async () => {
      const index = runs;
      runs += 1;
      await gates[index]?.opened;
      return index;
    });
    const first = run();
    const [second, third] = [run(), run()];
    gates[0]?.open();
    await first;
    await settle();
    expect(runs).toBe(2);
    gates[1]?.open();
    expect([await first, await second, await third]).toEqual([0, 1, 1]);
  });

  test('a call between the end of a run and the start of the waiting run joins the waiting run', async () => {
    let running = 0;
    let maxRunning = 0;
    const run = coalesce(async () => {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await settle();
      running -= 1;
    });
    const first = run();
    const second = run();
    const third = first.then(() => run());
    await Promise.all([first, second, third]);
    expect(maxRunning).toBe(1);
  });

  test('runs again after a failed run', async () => {
    let runs = 0;
    const run = coalesce(async () => {
      runs += 1;
      if (runs === 1) throw new Error('failed');
      return runs;
    });
    const first = run();
    const second = run();
    await expect(first).rejects.toThrow('failed');
    expect(await second).toBe(2);
  });
});
