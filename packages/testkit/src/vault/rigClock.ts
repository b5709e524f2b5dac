import { systemClock, type Clock } from '@behalf/kernel';

/** The clock of everybody on a stage, or of a process that is off it. */
export interface RigClock extends Clock {
  /** From now on so far ahead of the system's. */
  setAhead(ms: number): void;
}

/** Time jumps, timers run as ever: what processes wait for each other is waited for in earnest. */
export function createRigClock(aheadMs: number, skewMs = 0): RigClock {
  let currentAheadMs = aheadMs;
  return {
    now: () => systemClock.now() + currentAheadMs + skewMs,
    timer: (ms, fn, options) => systemClock.timer(ms, fn, options),
    setAhead: (ms) => void (currentAheadMs = ms),
  };
}
