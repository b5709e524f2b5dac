import type { Cancel, Clock } from '@behalf/kernel';

/** Repeats `work`, one at a time, until it is cancelled. What fails is tried again next time. */
export function setPeriodic(ms: number, clock: Clock, work: () => Promise<unknown>): Cancel {
  let isCancelled = false;
  let cancel: Cancel = () => undefined;
  const schedule = () => {
    cancel = clock.timer(ms, () => {
      work()
        .catch(() => undefined)
        .finally(() => {
          if (!isCancelled) schedule();
        });
    });
  };
  schedule();
  return () => {
    isCancelled = true;
    cancel();
  };
}
