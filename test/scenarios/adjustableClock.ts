import { systemClock, type Clock } from '@behalf/kernel';

export interface AdjustableClock extends Clock {
  advance(ms: number): void;
}

/** Stands still until it is moved, for what happens by the minute. Timers run as they do, so the gateway lives. */
export function createAdjustableClock(): AdjustableClock {
  let now = systemClock.now();
  return {
    now: () => now,
    timer: (ms, fn, options) => systemClock.timer(ms, fn, options),
    advance: (ms) => void (now += ms),
  };
}
