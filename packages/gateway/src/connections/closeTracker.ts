import { withTimeout, type Clock } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';

/** Closes what was opened. Never fails, and never takes longer than its limit. */
export interface CloseTracker {
  close(upstream: Upstream): Promise<void>;
  /** Resolves when everything under way is closed. */
  waitForAll(): Promise<void>;
}

export function createCloseTracker(clock: Clock, timeoutMs: number): CloseTracker {
  const inProgress = new Set<Promise<void>>();

  return {
    close(upstream) {
      // Inside an async function, so that a close that throws at once is as harmless as one that rejects.
      const closing = (async () => upstream.close())().catch(() => undefined);
      const done: Promise<void> = withTimeout(clock, timeoutMs, closing, () => undefined).finally(() =>
        inProgress.delete(done),
      );
      inProgress.add(done);
      return done;
    },
    async waitForAll() {
      while (inProgress.size > 0) await Promise.all(inProgress);
    },
  };
}
