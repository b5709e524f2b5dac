import { WRITER_TTL_MS, type SystemStore } from '@behalf/gateway/ports';
import type { Cancel, Clock, Random } from '@behalf/kernel';

const HEARTBEAT_MS = 5_000;

/** This gateway's sign of life in the store, so that nothing moves the store under its feet. */
export interface GatewayPresence {
  /** False when the store is being moved: this gateway must not start. */
  begin(): Promise<boolean>;
  end(): Promise<void>;
}

export interface GatewayPresenceParts {
  system: SystemStore;
  clock: Clock;
  random: Random;
  /** The store went into maintenance while we were out of touch: what we write now would be lost. */
  onEvicted: () => void;
}

export function createGatewayPresence({
  system,
  clock,
  random,
  onEvicted,
}: GatewayPresenceParts): GatewayPresence {
  const id = random.id();
  let cancel: Cancel = () => undefined;
  let pendingHeartbeat: Promise<void> = Promise.resolve();
  let hasEnded = false;

  async function sendHeartbeat(): Promise<void> {
    try {
      if ((await system.heartbeat(id, WRITER_TTL_MS)) === 'in_maintenance') {
        if (!hasEnded) onEvicted();
        return;
      }
    } catch {
      // A store that is away now is asked again; `/ready` tells the operator.
    }
    if (!hasEnded) schedule();
  }

  function schedule(): void {
    cancel = clock.timer(HEARTBEAT_MS, () => {
      pendingHeartbeat = sendHeartbeat();
    });
  }

  return {
    async begin() {
      if ((await system.heartbeat(id, WRITER_TTL_MS)) === 'in_maintenance') return false;
      schedule();
      return true;
    },
    async end() {
      hasEnded = true;
      cancel();
      // A beat under way would sign us in again behind our back.
      await pendingHeartbeat;
      await system.removeWriter(id);
    },
  };
}
