import { systemClock, type Clock } from '@behalf/kernel';

export interface HeldClock extends Clock {
  /** How many timers wait that were set for just this long. */
  waiting(ms: number): number;
  /** Lets so much time go by; whatever is due is done, in order. */
  move(ms: number): void;
}

/** Timers below run as they do: beats by which the gateway lives. */
const SHORT_MS = 1_000;

/** Limits of a second and more end when the test says so and never by themselves: what answers was not slow by luck. */
export function createHeldClock(): HeldClock {
  let now = systemClock.now();
  const held = new Set<{ ms: number; at: number; fn: () => void }>();
  return {
    now: () => now,
    timer(ms, fn, options) {
      if (ms < SHORT_MS) return systemClock.timer(ms, fn, options);
      const timer = { ms, at: now + ms, fn };
      held.add(timer);
      return () => void held.delete(timer);
    },
    waiting: (ms) => [...held].filter((timer) => timer.ms === ms).length,
    move(ms) {
      now += ms;
      for (const timer of [...held].sort((a, b) => a.at - b.at)) {
        if (timer.at <= now && held.delete(timer)) timer.fn();
      }
    },
  };
}
