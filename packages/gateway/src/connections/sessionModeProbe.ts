import { rejectOnAbort, withTimeout, type Clock, type Cancellation } from '@behalf/kernel';
import type { ConnectionLimits } from './limits.ts';

/**
 * Whoever opens a server first finds out whether it keeps sessions. If it keeps none, one opening is enough for all
 * who come meanwhile; if it does, each opens their own, and nobody waits for another again.
 */
export interface SessionModeProbe {
  /** Waits for the scout, if one is out: not long, and once. */
  waitForResult(key: string, signal: Cancellation): Promise<void>;
  isRunning(key: string): boolean;
  /** Goes ahead; returns how to report back, which must be called in any case. */
  start(key: string): () => void;
  /** It keeps sessions: no scout is needed. */
  markSessionBased(key: string): void;
}

export function createSessionModeProbe(clock: Clock, limits: ConnectionLimits): SessionModeProbe {
  const running = new Map<string, Promise<void>>();
  const sessionBased = new Set<string>();

  return {
    isRunning: (key) => running.has(key),
    async waitForResult(key, signal) {
      const probe = running.get(key);
      if (probe)
        await rejectOnAbort(
          withTimeout(clock, limits.probeWaitMs, probe, () => undefined),
          signal,
        );
    },
    start(key) {
      if (running.has(key) || sessionBased.has(key)) return () => undefined;
      let finish: () => void = () => undefined;
      const probe = new Promise<void>((resolve) => (finish = resolve));
      running.set(key, probe);
      return () => {
        if (running.get(key) === probe) running.delete(key);
        finish();
      };
    },
    markSessionBased(key) {
      if (sessionBased.size >= limits.maxEntries)
        sessionBased.delete(sessionBased.values().next().value as string);
      sessionBased.add(key);
    },
  };
}
