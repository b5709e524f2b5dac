import type { Clock } from '@behalf/kernel';

/** Wakes whoever waits for it, and does not forget a ring that nobody waited for. */
export interface AutoResetEvent {
  readonly set: () => void;
  /** Until it rings, or rang since the last time; at most so long. */
  wait(ms: number): Promise<void>;
}

export function createAutoResetEvent(clock: Clock): AutoResetEvent {
  let isSet = false;
  let wake: () => void = () => undefined;
  return {
    set() {
      isSet = true;
      wake();
    },
    async wait(ms) {
      if (!isSet) {
        await new Promise<void>((resolve) => {
          const cancel = clock.timer(ms, resolve);
          wake = () => {
            cancel();
            resolve();
          };
        });
      }
      isSet = false;
    },
  };
}
