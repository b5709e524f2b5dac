import { GatewayError } from '@behalf/gateway';

export interface InFlightLimits {
  readonly perUser: number;
  readonly inAll: number;
}

export const inFlightLimits: InFlightLimits = { perUser: 64, inAll: 2_000 };

/** Counts what is under way, so that one user cannot hold the memory and the connections of everybody. */
export interface InFlight {
  /** Throws when there is no room. */
  enter(user: string): void;
  leave(user: string): void;
}

export function createInFlight({ perUser, inAll }: InFlightLimits = inFlightLimits): InFlight {
  const users = new Map<string, number>();
  let total = 0;
  return {
    enter(user) {
      const own = users.get(user) ?? 0;
      if (own >= perUser || total >= inAll) {
        throw new GatewayError('MCP_RATE_LIMITED', {
          detail:
            own >= perUser
              ? `You have ${own} calls under way. Wait for one of them to end.`
              : 'Too many calls are under way here. Try again in a moment.',
          retryAfterMs: 1_000,
        });
      }
      users.set(user, own + 1);
      total += 1;
    },
    leave(user) {
      const own = users.get(user) ?? 0;
      if (own <= 1) users.delete(user);
      else users.set(user, own - 1);
      total -= 1;
    },
  };
}
