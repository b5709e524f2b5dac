import { sleep, withTimeout, type Clock, type Random } from '@behalf/kernel';
import type { Log } from '../../upstream/parts.ts';
import { ExchangeFault } from './exchangeFault.ts';
import type { ExchangedToken } from './exchangeProvider.ts';
import type { ExchangeJob } from './exchanger.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';

export interface ExchangeAttemptParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: Pick<
    ExchangerLimits,
    'attemptTimeoutMs' | 'minRetryDelayMs' | 'maxRetryDelayMs' | 'maxRetryAfterMs'
  >;
  /** Nothing is begun after it. */
  readonly closing: AbortSignal;
}

/** Counted while they are made, so that a failure tells as well. */
export interface RequestCounter {
  requests: number;
}

/** Not a setting: one repetition helps against a lost packet, more help nobody. */
const MAX_REQUESTS = 2;

/** Asks, and once more when it may help and the caller may still do so. Rejects with ExchangeFault alone. */
export async function exchangeWithRetry(
  parts: ExchangeAttemptParts,
  job: ExchangeJob,
  counter: RequestCounter,
): Promise<ExchangedToken> {
  const maxRequests = Math.min(job.maxRequests, MAX_REQUESTS);
  for (;;) {
    try {
      counter.requests += 1;
      return await attemptExchange(parts, job);
    } catch (error) {
      const fault = toExchangeFault(error, job, parts.log);
      const delayMs = retryDelay(fault, parts);
      if (counter.requests >= maxRequests || delayMs === undefined) throw fault;
      await sleep(parts.clock, delayMs, parts.closing).catch(() => {
        throw fault;
      });
    }
  }
}

async function attemptExchange(
  { clock, limits }: ExchangeAttemptParts,
  { provider, request }: ExchangeJob,
): Promise<ExchangedToken> {
  const abort = new AbortController();
  const work = (async () => provider.exchange(request, abort.signal))();
  const token = await withTimeout(clock, limits.attemptTimeoutMs, work, () => {
    const hint = 'The token endpoint did not respond in time.';
    const fault = new ExchangeFault('OBO_TEMPORARY', { isRetryable: true, hint });
    abort.abort(fault);
    throw fault;
  });
  // A provider has looked already. Nothing that is no token is ever given out or kept, whoever let it through.
  if (!token.token || !Number.isFinite(token.expiresAt) || !Number.isFinite(token.lifetimeMs)) {
    throw new ExchangeFault('OBO_EMPTY_RESPONSE');
  }
  return token;
}

/** Undefined: not at all. */
function retryDelay(fault: ExchangeFault, { random, limits }: ExchangeAttemptParts): number | undefined {
  const { isRetryable: mayRepeat, retryAfterMs = 0 } = fault.detail;
  if (!mayRepeat || retryAfterMs > limits.maxRetryAfterMs) return undefined;
  const jitter =
    limits.minRetryDelayMs + random.uniform() * (limits.maxRetryDelayMs - limits.minRetryDelayMs);
  return Math.max(jitter, retryAfterMs);
}

function toExchangeFault(error: unknown, { provider }: ExchangeJob, log: Log): ExchangeFault {
  if (error instanceof ExchangeFault) return error;
  // Not its message: it may quote the request.
  log('obo_provider_failed', {
    provider: provider.identity.provider,
    reason: error instanceof Error ? error.name : 'unknown',
  });
  return new ExchangeFault('OBO_TEMPORARY', { cause: error });
}
