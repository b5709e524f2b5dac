import { ActiveSet, type Cancel, type Clock } from '@behalf/kernel';

/** What is looked after while it waits. */
export interface TickListener {
  /** Called about once a second with the age. */
  onTick(ageMs: number): void;
}

/** One timer for all requests under way: one for each would cost more than what most of them wait for. */
export interface SharedTicker {
  /** Returns how to leave. */
  add(listener: TickListener): () => void;
}

const TICK_MS = 1_000;

interface TickEntry {
  readonly listener: TickListener;
  readonly since: number;
}

export function createSharedTicker(clock: Clock): SharedTicker {
  const entries = new ActiveSet<TickEntry>();
  let cancel: Cancel | undefined;
  function tick(): void {
    const now = clock.now();
    for (const { listener, since } of entries) listener.onTick(now - since);
    cancel = entries.size > 0 ? clock.timer(TICK_MS, tick) : undefined;
  }
  return {
    add(listener) {
      const entry = { listener, since: clock.now() };
      const slot = entries.add(entry);
      cancel ??= clock.timer(TICK_MS, tick);
      return () => entries.remove(slot, entry);
    },
  };
}
