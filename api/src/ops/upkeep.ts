import type { Cancel, Clock } from '@behalf/kernel';

/** Repeats `work`, one at a time, until it is cancelled. What fails is tried again next time. */
export function every(ms: number, clock: Clock, work: () => Promise<unknown>): Cancel {
  let cancelled = false;
  let cancel: Cancel = () => undefined;
  const schedule = () => {
    cancel = clock.timer(ms, () => {
      work()
        .catch(() => undefined)
        .finally(() => {
          if (!cancelled) schedule();
        });
    });
  };
  schedule();
  return () => {
    cancelled = true;
    cancel();
  };
}
