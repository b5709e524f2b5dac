import { Roster, type Cancel, type Clock } from '@behalf/kernel';

/** What is looked after while it waits. */
export interface Waiting {
  /** Called about once a second with the age. */
  look(ageMs: number): void;
}

/** One timer for all requests under way: one for each would cost more than what most of them wait for. */
export interface Vigil {
  /** Returns how to leave. */
  enter(waiting: Waiting): () => void;
}

const STEP_MS = 1_000;

interface Entered {
  readonly waiting: Waiting;
  readonly since: number;
}

export function createVigil(clock: Clock): Vigil {
  const all = new Roster<Entered>();
  let cancel: Cancel | undefined;
  function step(): void {
    const now = clock.now();
    for (const { waiting, since } of all) waiting.look(now - since);
    cancel = all.size > 0 ? clock.timer(STEP_MS, step) : undefined;
  }
  return {
    enter(waiting) {
      const entered = { waiting, since: clock.now() };
      const seat = all.enter(entered);
      cancel ??= clock.timer(STEP_MS, step);
      return () => all.leave(seat, entered);
    },
  };
}
