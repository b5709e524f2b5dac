import type { Clock } from '@behalf/kernel';

export interface FakeClock extends Clock {
  /** Advances the time and fires timers in order. Promises that one timer settles run before the next timer fires. */
  advance(ms: number): Promise<void>;
}

export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  let timers: { at: number; fn: () => void }[] = [];

  return {
    now: () => now,
    timer(ms, fn) {
      const timer = { at: now + Math.max(0, ms), fn };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        await settle();
        const due = timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers = timers.filter((other) => other !== due);
        now = Math.max(now, due.at);
        due.fn();
      }
      now = end;
      await settle();
    },
  };
}

/** Runs everything that is due in the microtask queue and in I/O callbacks. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
