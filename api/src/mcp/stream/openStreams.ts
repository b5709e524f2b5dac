import { GatewayError, type Principal } from '@behalf/gateway';
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
  /** Throws when there is no room. `end` is called once: when its time is up, or when the process ends. */
  enter(caller: Principal, end: () => void): () => void;
  readonly size: number;
  /** Takes none any more, and ends those that are open. */
  drain(): void;
}

export function createOpenStreams(
  clock: Clock,
  { perUser, inAll }: StreamLimits = streamLimits,
): OpenStreams {
  const open = new Map<() => void, string>();
  const users = new Map<string, number>();
  let draining = false;
  return {
    enter({ userId }, end) {
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
      const cancel = clock.timer(LONGEST_MS, ending);
      open.set(ending, userId);
      users.set(userId, own + 1);
      return leave;
    },
    get size() {
      return open.size;
    },
    drain() {
      draining = true;
      for (const end of [...open.keys()]) end();
    },
  };
}
