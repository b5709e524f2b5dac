import { GatewayError } from '@behalf/gateway';

export interface InFlightLimits {
  readonly maxPerUser: number;
  readonly maxTotal: number;
}

export const inFlightLimits: InFlightLimits = { maxPerUser: 64, maxTotal: 2_000 };

/** Counts what is under way, so that one user cannot hold the memory and the connections of everybody. */
export interface InFlightLimiter {
  /** Throws when there is no room. */
  acquire(user: string): void;
  release(user: string): void;
}

export function createInFlightLimiter({
  maxPerUser,
  maxTotal,
}: InFlightLimits = inFlightLimits): InFlightLimiter {
  const users = new Map<string, number>();
  let total = 0;
  return {
    acquire(user) {
      const userCalls = users.get(user) ?? 0;
      if (userCalls >= maxPerUser || total >= maxTotal) {
        throw new GatewayError('MCP_RATE_LIMITED', {
          detail:
            userCalls >= maxPerUser
              ? `You have ${userCalls} calls in progress. Wait for one of them to finish.`
              : 'Too many calls are in progress. Try again in a moment.',
          retryAfterMs: 1_000,
        });
      }
      users.set(user, userCalls + 1);
      total += 1;
    },
    release(user) {
      const userCalls = users.get(user) ?? 0;
      if (userCalls <= 1) users.delete(user);
      else users.set(user, userCalls - 1);
      total -= 1;
    },
  };
}
