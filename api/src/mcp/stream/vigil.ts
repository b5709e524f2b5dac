import type { Cancel, Clock } from '@behalf/kernel';

/** What is looked after while it waits. */
export interface Waiting {
  /** Called about once a second with the age. */
  look(ageMs: number): void;
}

/** One timer for all requests under way: one for each would cost more than what most of them wait for. */
export interface Vigil {
  enter(waiting: Waiting): void;
  leave(waiting: Waiting): void;
}

const STEP_MS = 1_000;

export function createVigil(clock: Clock): Vigil {
  const all = new Map<Waiting, number>();
  let cancel: Cancel | undefined;
  function step(): void {
    const now = clock.now();
    for (const [waiting, since] of [...all]) waiting.look(now - since);
    cancel = all.size > 0 ? clock.timer(STEP_MS, step) : undefined;
  }
  return {
    enter(waiting) {
      all.set(waiting, clock.now());
      cancel ??= clock.timer(STEP_MS, step);
    },
    leave: (waiting) => void all.delete(waiting),
  };
}
