import type { Cancel, Clock, Random } from '@behalf/kernel';
import type { AppServer } from '../registry/server.ts';
import { tenantServerKey } from './connectionKeys.ts';

/**
 * Tries parked servers that everybody shares by itself, so that they come back without anybody's call being the one
 * that finds out. A user's server is not tried: that would use a credential while its owner is away.
 */
export interface RecoveryProbe {
  /** Watches a server whose breaker is open, until it closes. */
  start(server: AppServer): void;
  /** Forgets servers whose definition does not hold any more. */
  retireOutdated(): void;
  close(): void;
}

export interface RecoveryProbeParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly isActive: (server: AppServer) => boolean;
  /** When the server may be tried again; undefined when nothing is wrong with it. */
  readonly getRetryAt: (server: AppServer) => number | undefined;
  /** Never rejects. */
  readonly probe: (server: AppServer) => Promise<void>;
}

/** Gateways that lost a server together do not come back to it together. */
const RECOVERY_JITTER = 0.1;
/** When somebody else's probe is under way. */
const MIN_RECOVERY_DELAY_MS = 1_000;

export function createRecoveryProbe(parts: RecoveryProbeParts): RecoveryProbe {
  const { clock, random, isActive, getRetryAt, probe } = parts;
  const scheduled = new Map<string, { readonly server: AppServer; cancel: Cancel }>();

  function remove(key: string): void {
    scheduled.get(key)?.cancel();
    scheduled.delete(key);
  }

  function schedule(key: string, server: AppServer): void {
    const retryAt = getRetryAt(server);
    if (retryAt === undefined || !isActive(server)) return remove(key);
    const delayMs = Math.max(retryAt - clock.now(), MIN_RECOVERY_DELAY_MS);
    const entry = {
      server,
      cancel: clock.timer(delayMs * (1 + RECOVERY_JITTER * random.uniform()), () => {
        void probe(server).then(() => {
          if (scheduled.get(key) === entry) schedule(key, server);
        });
      }),
    };
    scheduled.set(key, entry);
  }

  return {
    start(server) {
      const key = tenantServerKey(server);
      if (!scheduled.has(key)) schedule(key, server);
    },
    retireOutdated() {
      for (const [key, { server }] of scheduled) if (!isActive(server)) remove(key);
    },
    close() {
      for (const key of scheduled.keys()) remove(key);
    },
  };
}
