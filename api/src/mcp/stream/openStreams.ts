import { GatewayError, principalKey, type RevocationMonitor, type Principal } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';

export interface StreamLimits {
  readonly maxPerUser: number;
  readonly maxTotal: number;
}

export const streamLimits: StreamLimits = { maxPerUser: 64, maxTotal: 10_000 };

/** Who opened a stream is looked at again after this: the client comes back and shows who it is. */
const MAX_AGE_MS = 60 * 60_000;

/** Streams that wait for something to happen. They cost little each, and nobody may have them all. */
export interface OpenStreams {
  /**
   * Throws when there is no room. `end` is called once: when its time is up, or what its caller came in with or `until`
   * is over, when its user is signed out, or when the process ends.
   */
  register(caller: Principal, end: () => void, expiresAt?: number): () => void;
  readonly size: number;
  /** Ends those of one principal: who still may comes back and is looked at anew. */
  endForPrincipal(principal: string): void;
  /** Takes none any more, and ends those that are open. */
  drain(): void;
}

export interface OpenStreamParts {
  readonly clock: Clock;
  readonly callerWatch: Pick<RevocationMonitor, 'subscribe'>;
  readonly limits?: StreamLimits;
}

export function createOpenStreams({
  clock,
  callerWatch,
  limits = streamLimits,
}: OpenStreamParts): OpenStreams {
  const { maxPerUser, maxTotal } = limits;
  const open = new Map<() => void, Principal>();
  const users = new Map<string, number>();
  let isDraining = false;
  return {
    register(caller, end, expiresAt = Infinity) {
      const { userId } = caller;
      if (isDraining) throw new GatewayError('SHUTTING_DOWN');
      const userStreams = users.get(userId) ?? 0;
      if (userStreams >= maxPerUser || open.size >= maxTotal) {
        throw new GatewayError('MCP_RATE_LIMITED', {
          detail:
            userStreams >= maxPerUser
              ? `You have ${userStreams} open streams. Close one of them.`
              : 'Too many streams are open here. Try again in a moment.',
          retryAfterMs: 5_000,
        });
      }
      const unregister = () => {
        if (!open.delete(endOnce)) return;
        cancel();
        stopWatching();
        const remaining = (users.get(userId) ?? 1) - 1;
        if (remaining === 0) users.delete(userId);
        else users.set(userId, remaining);
      };
      const endOnce = () => {
        unregister();
        try {
          end();
        } catch {
          // Called by a timer or among all the others: one that cannot end well takes nobody along.
        }
      };
      const remainingMs = Math.min(expiryOf(caller), expiresAt) - clock.now();
      const cancel = clock.timer(Math.max(0, Math.min(MAX_AGE_MS, remainingMs)), endOnce);
      const stopWatching = callerWatch.subscribe(caller, endOnce);
      open.set(endOnce, caller);
      users.set(userId, userStreams + 1);
      return unregister;
    },
    get size() {
      return open.size;
    },
    endForPrincipal(principal) {
      for (const [end, caller] of [...open]) if (principalKey(caller) === principal) end();
    },
    drain() {
      isDraining = true;
      for (const end of [...open.keys()]) end();
    },
  };
}

/** Cookies open no such stream, and what they are of is told when it ends. */
function expiryOf({ authentication }: Principal): number {
  return authentication.via === 'session' ? Infinity : (authentication.expiresAt ?? Infinity);
}
