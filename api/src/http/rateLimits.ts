import { GatewayError, networkOf, type Principal } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import { createTokenBuckets } from './tokenBuckets.ts';

/** `calls`: tool calls, reads and lists. `writes`: whatever else changes something. */
export type RateClass = 'calls' | 'writes';

export interface RateLimits {
  /** Counts one request, or throws with the time after which the next one is taken. */
  consume(principal: Pick<Principal, 'tenant' | 'userId'>, rateClass: RateClass): void;
  /** A token or a key from this address was refused. */
  recordRefusal(address: string): void;
  /** Throws while too many were: before the next one is looked at. */
  checkAddress(address: string): void;
}

export interface RateLimitParts {
  readonly clock: Clock;
  readonly perMinute: Readonly<Record<RateClass, number>>;
  /** How many callers, and how many networks, are told apart. */
  readonly maxTracked?: number;
}

const MAX_TRACKED = 50_000;
/** Guesses at 256 random bits are hopeless; this keeps them from costing much. A misconfigured client stays below it. */
const REFUSALS_PER_MINUTE = 300;

/**
 * What one caller may ask of this process. In memory: a limit that had to ask the store would cost every call more than
 * what it protects, so each replica gives its own share.
 */
export function createRateLimits({ clock, perMinute, maxTracked = MAX_TRACKED }: RateLimitParts): RateLimits {
  const buckets = {
    calls: createTokenBuckets({ clock, perMinute: perMinute.calls, maxBuckets: maxTracked }),
    writes: createTokenBuckets({ clock, perMinute: perMinute.writes, maxBuckets: maxTracked }),
  };
  const refusals = createTokenBuckets({ clock, perMinute: REFUSALS_PER_MINUTE, maxBuckets: maxTracked });
  return {
    consume({ tenant, userId }, rateClass) {
      const waitMs = buckets[rateClass].consume(tenant, userId);
      if (waitMs === 0) return;
      const code = rateClass === 'calls' ? 'MCP_RATE_LIMITED' : 'RATE_LIMITED';
      throw new GatewayError(code, { retryAfterMs: waitMs });
    },
    recordRefusal: (address) => void refusals.consume('', networkOf(address)),
    checkAddress(address) {
      const waitMs = refusals.peek('', networkOf(address));
      if (waitMs > 0) throw new GatewayError('RATE_LIMITED', { retryAfterMs: waitMs });
    },
  };
}
