import type { Cancel, Clock, Random } from '@behalf/kernel';
import type { AppServer } from '../registry/server.ts';
import { serverKey } from './serverKey.ts';

/**
 * Tries parked servers that everybody shares by itself, so that they come back without anybody's call being the one
 * that finds out. A user's server is not tried: that would use a credential while its owner is away.
 */
export interface SelfProbe {
  /** Watches a server whose breaker is open, until it closes. */
  watch(server: AppServer): void;
  /** Forgets servers whose definition does not hold any more. */
  retireOutdated(): void;
  close(): void;
}

export interface SelfProbeParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly holds: (server: AppServer) => boolean;
  /** When the server may be tried again; undefined when nothing is wrong with it. */
  readonly retryAt: (server: AppServer) => number | undefined;
  /** Never rejects. */
  readonly probe: (server: AppServer) => Promise<void>;
}

/** Gateways that lost a server together do not come back to it together. */
const JITTER = 0.1;
/** When somebody else's probe is under way. */
const SHORTEST_WAIT_MS = 1_000;

export function createSelfProbe(parts: SelfProbeParts): SelfProbe {
  const { clock, random, holds, retryAt, probe } = parts;
  const watched = new Map<string, { readonly server: AppServer; cancel: Cancel }>();

  function forget(key: string): void {
    watched.get(key)?.cancel();
    watched.delete(key);
  }

  function schedule(key: string, server: AppServer): void {
    const at = retryAt(server);
    if (at === undefined || !holds(server)) return forget(key);
    const wait = Math.max(at - clock.now(), SHORTEST_WAIT_MS);
    const entry = {
      server,
      cancel: clock.timer(wait * (1 + JITTER * random.uniform()), () => {
        void probe(server).then(() => {
          if (watched.get(key) === entry) schedule(key, server);
        });
      }),
    };
    watched.set(key, entry);
  }

  return {
    watch(server) {
      const key = serverKey(server);
      if (!watched.has(key)) schedule(key, server);
    },
    retireOutdated() {
      for (const [key, { server }] of watched) if (!holds(server)) forget(key);
    },
    close() {
      for (const key of watched.keys()) forget(key);
    },
  };
}
