import type { Cancel, Clock } from '@behalf/kernel';

/** What one child, or one server, may add to the operator's log: a burst, then so many a second. */
export const MAX_BURST_LINES = 100;
export const MAX_LINES_PER_SECOND = 20;

export interface LineRateLimiter {
  /** Whether this line may still be told. One that may not is counted. */
  tryAcquire(): boolean;
  /** Tells what is left to tell and stops the timer. */
  close(): void;
}

/**
 * Keeps a server that writes without end from filling the disk, or hiding what others say. What was left out is told
 * once, as a number, when there is room again.
 */
export function createLineRateLimiter(clock: Clock, onDropped: (count: number) => void): LineRateLimiter {
  let availableLines = MAX_BURST_LINES;
  let refilledAt = clock.now();
  let droppedCount = 0;
  let cancelTimer: Cancel = () => undefined;

  const refill = () => {
    const now = clock.now();
    const refilledLines = Math.floor(((now - refilledAt) * MAX_LINES_PER_SECOND) / 1_000);
    if (refilledLines <= 0) return;
    availableLines = Math.min(MAX_BURST_LINES, availableLines + refilledLines);
    refilledAt = now;
  };
  const reportDropped = () => {
    cancelTimer();
    const count = droppedCount;
    droppedCount = 0;
    if (count > 0) onDropped(count);
  };

  return {
    tryAcquire() {
      refill();
      if (availableLines > 0) {
        availableLines -= 1;
        return true;
      }
      droppedCount += 1;
      if (droppedCount === 1) cancelTimer = clock.timer(1_000, reportDropped);
      return false;
    },
    close: reportDropped,
  };
}
