import { GatewayError, networkOf, type Principal } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import { createBuckets } from './buckets.ts';

/** `calls`: tool calls, reads and lists. `writes`: whatever else changes something. */
export type RateClass = 'calls' | 'writes';

export interface RateLimits {
  /** Counts one request, or throws with the time after which the next one is taken. */
  take(principal: Pick<Principal, 'tenant' | 'userId'>, rateClass: RateClass): void;
  /** A token or a key from this address was refused. */
  refused(address: string): void;
  /** Throws while too many were: before the next one is looked at. */
  checkAddress(address: string): void;
}

export interface RateLimitParts {
  readonly clock: Clock;
  readonly perMinute: Readonly<Record<RateClass, number>>;
  /** How many callers, and how many networks, are told apart. */
  readonly most?: number;
}

const MOST = 50_000;
/** Guesses at 256 random bits are hopeless; this keeps them from costing much. A misconfigured client stays below it. */
const REFUSALS_PER_MINUTE = 300;

/**
 * What one caller may ask of this process. In memory: a limit that had to ask the store would cost every call more than
 * what it protects, so each replica gives its own share.
 */
export function createRateLimits({ clock, perMinute, most = MOST }: RateLimitParts): RateLimits {
  const buckets = {
    calls: createBuckets({ clock, perMinute: perMinute.calls, most }),
    writes: createBuckets({ clock, perMinute: perMinute.writes, most }),
  };
  const refusals = createBuckets({ clock, perMinute: REFUSALS_PER_MINUTE, most });
  return {
    take({ tenant, userId }, rateClass) {
      const waitMs = buckets[rateClass].take(tenant, userId);
      if (waitMs === 0) return;
      const code = rateClass === 'calls' ? 'MCP_RATE_LIMITED' : 'RATE_LIMITED';
      throw new GatewayError(code, { retryAfterMs: waitMs });
    },
    refused: (address) => void refusals.take('', networkOf(address)),
    checkAddress(address) {
      const waitMs = refusals.peek('', networkOf(address));
      if (waitMs > 0) throw new GatewayError('RATE_LIMITED', { retryAfterMs: waitMs });
    },
  };
}
