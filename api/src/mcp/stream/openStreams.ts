import { GatewayError, principalKey, type RevocationMonitor, type Principal } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';

export interface StreamLimits {
  readonly perUser: number;
  readonly inAll: number;
}

export const streamLimits: StreamLimits = { perUser: 64, inAll: 10_000 };

/** Who opened a stream is looked at again after this: the client comes back and shows who it is. */
const LONGEST_MS = 60 * 60_000;

/** Streams that wait for something to happen. They cost little each, and nobody may have them all. */
export interface OpenStreams {
  /**
   * Throws when there is no room. `end` is called once: when its time is up, or what its caller came in with or `until`
   * is over, when its user is signed out, or when the process ends.
   */
  enter(caller: Principal, end: () => void, until?: number): () => void;
  readonly size: number;
  /** Ends those of one principal: who still may comes back and is looked at anew. */
  endOf(principal: string): void;
  /** Takes none any more, and ends those that are open. */
  drain(): void;
}

export interface OpenStreamParts {
  readonly clock: Clock;
  readonly callers: Pick<RevocationMonitor, 'subscribe'>;
  readonly limits?: StreamLimits;
}

export function createOpenStreams({ clock, callers, limits = streamLimits }: OpenStreamParts): OpenStreams {
  const { perUser, inAll } = limits;
  const open = new Map<() => void, Principal>();
  const users = new Map<string, number>();
  let draining = false;
  return {
    enter(caller, end, until = Infinity) {
      const { userId } = caller;
      if (draining) throw new GatewayError('SHUTTING_DOWN');
      const own = users.get(userId) ?? 0;
      if (own >= perUser || open.size >= inAll) {
        throw new GatewayError('MCP_RATE_LIMITED', {
          detail:
            own >= perUser
              ? `You have ${own} open streams. Close one of them.`
              : 'Too many streams are open here. Try again in a moment.',
          retryAfterMs: 5_000,
        });
      }
      const leave = () => {
        if (!open.delete(ending)) return;
        cancel();
        unfollow();
        const left = (users.get(userId) ?? 1) - 1;
        if (left === 0) users.delete(userId);
        else users.set(userId, left);
      };
      const ending = () => {
        leave();
        try {
          end();
        } catch {
          // Called by a timer or among all the others: one that cannot end well takes nobody along.
        }
      };
      const left = Math.min(untilOf(caller), until) - clock.now();
      const cancel = clock.timer(Math.max(0, Math.min(LONGEST_MS, left)), ending);
      const unfollow = callers.subscribe(caller, ending);
      open.set(ending, caller);
      users.set(userId, own + 1);
      return leave;
    },
    get size() {
      return open.size;
    },
    endOf(principal) {
      for (const [end, caller] of [...open]) if (principalKey(caller) === principal) end();
    },
    drain() {
      draining = true;
      for (const end of [...open.keys()]) end();
    },
  };
}

/** Cookies open no such stream, and what they are of is told when it ends. */
function untilOf({ authentication: by }: Principal): number {
  return by.via === 'session' ? Infinity : (by.expiresAt ?? Infinity);
}
