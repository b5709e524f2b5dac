import type { Clock } from '@behalf/kernel';

/** Wakes whoever waits for it, and does not forget a ring that nobody waited for. */
export interface Bell {
  readonly ring: () => void;
  /** Until it rings, or rang since the last time; at most so long. */
  heard(ms: number): Promise<void>;
}

export function createBell(clock: Clock): Bell {
  let rang = false;
  let wake: () => void = () => undefined;
  return {
    ring() {
      rang = true;
      wake();
    },
    async heard(ms) {
      if (!rang) {
        await new Promise<void>((resolve) => {
          const cancel = clock.timer(ms, resolve);
          wake = () => {
            cancel();
            resolve();
          };
        });
      }
      rang = false;
    },
  };
}
