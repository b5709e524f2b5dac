import { systemClock, type Clock } from '@behalf/kernel';

export interface PausedClock extends Clock {
  /** How many timers wait that were set for just this long. */
  countTimers(ms: number): number;
  /** Lets so much time go by; whatever is due is done, in order. */
  advance(ms: number): void;
}

/** Timers below run as they do: beats by which the gateway lives. */
const MAX_UNPAUSED_MS = 1_000;

/** Limits of a second and more end when the test says so and never by themselves: what answers was not slow by luck. */
export function createPausedClock(): PausedClock {
  let now = systemClock.now();
  const pausedTimers = new Set<{ ms: number; at: number; fn: () => void }>();
  return {
    now: () => now,
    timer(ms, fn, options) {
      if (ms < MAX_UNPAUSED_MS) return systemClock.timer(ms, fn, options);
      const timer = { ms, at: now + ms, fn };
      pausedTimers.add(timer);
      return () => void pausedTimers.delete(timer);
    },
    countTimers: (ms) => [...pausedTimers].filter((timer) => timer.ms === ms).length,
    advance(ms) {
      now += ms;
      for (const timer of [...pausedTimers].sort((a, b) => a.at - b.at)) {
        if (timer.at <= now && pausedTimers.delete(timer)) timer.fn();
      }
    },
  };
}
