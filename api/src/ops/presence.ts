import { WRITER_TTL_MS, type SystemStore } from '@behalf/gateway/ports';
import type { Cancel, Clock, Random } from '@behalf/kernel';

const BEAT_MS = 5_000;

/** This gateway's sign of life in the store, so that nothing moves the store under its feet. */
export interface Presence {
  /** False when the store is being moved: this gateway must not start. */
  begin(): Promise<boolean>;
  end(): Promise<void>;
}

export interface PresenceParts {
  system: SystemStore;
  clock: Clock;
  random: Random;
  /** The store went into maintenance while we were out of touch: what we write now would be lost. */
  onEvicted: () => void;
}

export function createPresence({ system, clock, random, onEvicted }: PresenceParts): Presence {
  const id = random.id();
  let cancel: Cancel = () => undefined;
  let beating: Promise<void> = Promise.resolve();
  let ended = false;

  async function beat(): Promise<void> {
    try {
      if ((await system.heartbeat(id, WRITER_TTL_MS)) === 'in_maintenance') {
        if (!ended) onEvicted();
        return;
      }
    } catch {
      // A store that is away now is asked again; `/ready` tells the operator.
    }
    if (!ended) schedule();
  }

  function schedule(): void {
    cancel = clock.timer(BEAT_MS, () => {
      beating = beat();
    });
  }

  return {
    async begin() {
      if ((await system.heartbeat(id, WRITER_TTL_MS)) === 'in_maintenance') return false;
      schedule();
      return true;
    },
    async end() {
      ended = true;
      cancel();
      // A beat under way would sign us in again behind our back.
      await beating;
      await system.removeWriter(id);
    },
  };
}
