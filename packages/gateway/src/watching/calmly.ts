import type { Cancel, Clock } from '@behalf/kernel';
import type { Notice } from '../upstream/upstream.ts';

/** The same notice is told at most this often. */
const SETTLE_MS = 1_000;

/** Tells notices on: the first at once, what repeats it within a second as one at the end of that second. */
export function createCalmly(clock: Clock, deliver: (notice: Notice) => void) {
  const waiting = new Map<string, { readonly cancel: Cancel; again: boolean }>();

  function open(key: string, notice: Notice): void {
    const entry = {
      again: false,
      cancel: clock.timer(SETTLE_MS, () => {
        waiting.delete(key);
        if (!entry.again) return;
        open(key, notice);
        deliver(notice);
      }),
    };
    waiting.set(key, entry);
  }

  return {
    tell(key: string, notice: Notice): void {
      const entry = waiting.get(key);
      if (entry) {
        entry.again = true;
        return;
      }
      open(key, notice);
      deliver(notice);
    },
    close(): void {
      for (const { cancel } of waiting.values()) cancel();
      waiting.clear();
    },
  };
}
