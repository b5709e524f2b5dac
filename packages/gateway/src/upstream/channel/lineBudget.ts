import type { Cancel, Clock } from '@behalf/kernel';

/** What one child, or one server, may add to the operator's log: a burst, then so many a second. */
export const BURST_LINES = 100;
export const LINES_PER_SECOND = 20;

export interface LineBudget {
  /** Whether this line may still be told. One that may not is counted. */
  spend(): boolean;
  /** Tells what is left to tell and stops the timer. */
  end(): void;
}

/**
 * Keeps a server that writes without end from filling the disk, or hiding what others say. What was left out is told
 * once, as a number, when there is room again.
 */
export function createLineBudget(clock: Clock, onDropped: (count: number) => void): LineBudget {
  let left = BURST_LINES;
  let filledAt = clock.now();
  let dropped = 0;
  let stop: Cancel = () => undefined;

  const fill = () => {
    const now = clock.now();
    const more = Math.floor(((now - filledAt) * LINES_PER_SECOND) / 1_000);
    if (more <= 0) return;
    left = Math.min(BURST_LINES, left + more);
    filledAt = now;
  };
  const tellDropped = () => {
    stop();
    const count = dropped;
    dropped = 0;
    if (count > 0) onDropped(count);
  };

  return {
    spend() {
      fill();
      if (left > 0) {
        left -= 1;
        return true;
      }
      dropped += 1;
      if (dropped === 1) stop = clock.timer(1_000, tellDropped);
      return false;
    },
    end: tellDropped,
  };
}
