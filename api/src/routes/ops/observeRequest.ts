import { type CallOutcome, type EntryPoint, GatewayError, type Principal } from '@behalf/gateway';
import type { Cancellation, Clock } from '@behalf/kernel';
import type { Logger } from '../../runtime/logger.ts';
import type { Metrics } from './metrics.ts';

export interface ObserveRequestParts {
  metrics: Metrics;
  clock: Clock;
  logger: Logger;
  /** The name under which a server is counted; one that is not the operator's has none of its own. */
  labelOf: (caller: Principal, server: string) => string;
}

/** One request to a server, as far as it is counted and logged. */
interface ObservedRequest {
  caller: Principal;
  door: EntryPoint;
  server: string;
  /** For the log. */
  operation: string;
  signal: Cancellation;
}

/** Does the work, counts how it ended and how long it took, and logs a failure. */
export type ObserveRequest = <T extends CallOutcome>(
  request: ObservedRequest,
  work: () => Promise<T>,
) => Promise<T>;

export function createObserveRequest({
  metrics,
  clock,
  logger,
  labelOf,
}: ObserveRequestParts): ObserveRequest {
  return async ({ caller, door, server, operation, signal }, work) => {
    const startedAt = clock.now();
    let outcome = 'ok';
    try {
      const response = await work();
      if (response.kind === 'auth_required' || response.result['isError'] === true) outcome = 'tool_error';
      return response;
    } catch (error) {
      outcome = outcomeOf(error, signal);
      // The server's own words stay out of the log: their size and content are its choice.
      if (outcome !== 'cancelled') {
        logger.warn('A request to a server failed', {
          server,
          operation,
          code: outcome,
          user: caller.userId,
        });
      }
      throw error;
    } finally {
      const seconds = (clock.now() - startedAt) / 1000;
      metrics.observe({ tenant: caller.tenant, server: labelOf(caller, server), door, outcome, seconds });
    }
  };
}

function outcomeOf(error: unknown, signal: Cancellation): string {
  const isAbort = error === signal.reason || (error as Error | undefined)?.name === 'AbortError';
  if (signal.aborted && isAbort) return 'cancelled';
  return error instanceof GatewayError ? error.code : 'INTERNAL';
}
