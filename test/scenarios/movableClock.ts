import { systemClock, type Clock } from '@behalf/kernel';

export interface MovableClock extends Clock {
  move(ms: number): void;
}

/** Stands still until it is moved, for what happens by the minute. Timers run as they do, so the gateway lives. */
export function createMovableClock(): MovableClock {
  let now = systemClock.now();
  return {
    now: () => now,
    timer: (ms, fn, options) => systemClock.timer(ms, fn, options),
    move: (ms) => void (now += ms),
  };
}
