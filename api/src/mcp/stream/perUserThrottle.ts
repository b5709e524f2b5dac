import type { Cancel, Clock } from '@behalf/kernel';

const INTERVAL_MS = 500;
/** Whoever would have to wait longer is not served: nobody who asks waits that long. */
const MAX_DELAY_MS = 5_000;
const MAX_USERS = 1_000;

/** Does the work of one user not more often than every half second, that of each in its turn. Returns how to stop. */
export type PerUserThrottle = (user: string, work: () => void) => Cancel;

export function createPerUserThrottle(clock: Clock): PerUserThrottle {
  const nextAllowed = new Map<string, number>();
  return (user, work) => {
    const now = clock.now();
    const runAt = Math.max(now, nextAllowed.get(user) ?? 0);
    if (runAt - now > MAX_DELAY_MS) return () => undefined;
    if (nextAllowed.size >= MAX_USERS)
      for (const [key, allowedAt] of nextAllowed) if (allowedAt <= now) nextAllowed.delete(key);
    nextAllowed.set(user, runAt + INTERVAL_MS);
    if (runAt > now) return clock.timer(runAt - now, work);
    work();
    return () => undefined;
  };
}
