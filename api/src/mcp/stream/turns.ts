import type { Cancel, Clock } from '@behalf/kernel';

const APART_MS = 500;
/** Whoever would have to wait longer is not served: nobody who asks waits that long. */
const LONGEST_MS = 5_000;
const MOST_USERS = 1_000;

/** Does the work of one user not more often than every half second, that of each in its turn. Returns how to stop. */
export type Turns = (user: string, work: () => void) => Cancel;

export function createTurns(clock: Clock): Turns {
  const next = new Map<string, number>();
  return (user, work) => {
    const now = clock.now();
    const at = Math.max(now, next.get(user) ?? 0);
    if (at - now > LONGEST_MS) return () => undefined;
    if (next.size >= MOST_USERS) for (const [key, until] of next) if (until <= now) next.delete(key);
    next.set(user, at + APART_MS);
    if (at > now) return clock.timer(at - now, work);
    work();
    return () => undefined;
  };
}
