import { unlessAborted, within, type Clock, type Cancellation } from '@behalf/kernel';
import type { ConnectionLimits } from './limits.ts';

/**
 * Whoever opens a server first finds out whether it keeps sessions. If it keeps none, one opening is enough for all
 * who come meanwhile; if it does, each opens their own, and nobody waits for another again.
 */
export interface Scouts {
  /** Waits for the scout, if one is out: not long, and once. */
  wait(key: string, signal: Cancellation): Promise<void>;
  isOut(key: string): boolean;
  /** Goes ahead; returns how to report back, which must be called in any case. */
  send(key: string): () => void;
  /** It keeps sessions: no scout is needed. */
  keepsSessions(key: string): void;
}

export function createScouts(clock: Clock, limits: ConnectionLimits): Scouts {
  const out = new Map<string, Promise<void>>();
  const sessionful = new Set<string>();

  return {
    isOut: (key) => out.has(key),
    async wait(key, signal) {
      const scout = out.get(key);
      if (scout)
        await unlessAborted(
          within(clock, limits.scoutMs, scout, () => undefined),
          signal,
        );
    },
    send(key) {
      if (out.has(key) || sessionful.has(key)) return () => undefined;
      let report: () => void = () => undefined;
      const scout = new Promise<void>((resolve) => (report = resolve));
      out.set(key, scout);
      return () => {
        if (out.get(key) === scout) out.delete(key);
        report();
      };
    },
    keepsSessions(key) {
      if (sessionful.size >= limits.remembered) sessionful.delete(sessionful.values().next().value as string);
      sessionful.add(key);
    },
  };
}
