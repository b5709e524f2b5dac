import { within, type Clock } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';

/** Closes what was opened. Never fails, and never takes longer than its limit. */
export interface Closings {
  close(upstream: Upstream): Promise<void>;
  /** Resolves when everything under way is closed. */
  settled(): Promise<void>;
}

export function createClosings(clock: Clock, limitMs: number): Closings {
  const underWay = new Set<Promise<void>>();

  return {
    close(upstream) {
      // Inside an async function, so that a close that throws at once is as harmless as one that rejects.
      const closing = (async () => upstream.close())().catch(() => undefined);
      const done: Promise<void> = within(clock, limitMs, closing, () => undefined).finally(() =>
        underWay.delete(done),
      );
      underWay.add(done);
      return done;
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
