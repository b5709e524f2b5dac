import type { Cancel, Clock } from '@behalf/kernel';
import type { ServerNotification } from '../upstream/upstream.ts';

/** The same notice is told at most this often. */
const COALESCE_MS = 1_000;

/** Tells notices on: the first at once, what repeats it within a second as one at the end of that second. */
export function createNotificationCoalescer(
  clock: Clock,
  deliver: (notification: ServerNotification) => void,
) {
  const pending = new Map<string, { readonly cancel: Cancel; hasRepeat: boolean }>();

  function startWindow(key: string, notification: ServerNotification): void {
    const entry = {
      hasRepeat: false,
      cancel: clock.timer(COALESCE_MS, () => {
        pending.delete(key);
        if (!entry.hasRepeat) return;
        startWindow(key, notification);
        deliver(notification);
      }),
    };
    pending.set(key, entry);
  }

  return {
    emit(key: string, notification: ServerNotification): void {
      const entry = pending.get(key);
      if (entry) {
        entry.hasRepeat = true;
        return;
      }
      startWindow(key, notification);
      deliver(notification);
    },
    close(): void {
      for (const { cancel } of pending.values()) cancel();
      pending.clear();
    },
  };
}
