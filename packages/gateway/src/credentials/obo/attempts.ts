import { sleep, within, type Clock, type Random } from '@behalf/kernel';
import type { Log } from '../../upstream/parts.ts';
import { ExchangeFault } from './exchangeFault.ts';
import type { ExchangedToken } from './exchangeProvider.ts';
import type { ExchangeJob } from './exchanger.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';

export interface AttemptParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: Pick<ExchangerLimits, 'attemptMs' | 'retryFromMs' | 'retryToMs' | 'longestRetryAfterMs'>;
  /** Nothing is begun after it. */
  readonly closing: AbortSignal;
}

/** Counted while they are made, so that a failure tells as well. */
export interface Made {
  requests: number;
}

/** Not a setting: one repetition helps against a lost packet, more help nobody. */
const MOST_REQUESTS = 2;

/** Asks, and once more when it may help and the caller may still do so. Rejects with ExchangeFault alone. */
export async function exchangeWithRetry(
  parts: AttemptParts,
  job: ExchangeJob,
  made: Made,
): Promise<ExchangedToken> {
  const most = Math.min(job.requests, MOST_REQUESTS);
  for (;;) {
    try {
      made.requests += 1;
      return await attempt(parts, job);
    } catch (error) {
      const fault = faultOf(error, job, parts.log);
      const wait = pauseAfter(fault, parts);
      if (made.requests >= most || wait === undefined) throw fault;
      await sleep(parts.clock, wait, parts.closing).catch(() => {
        throw fault;
      });
    }
  }
}

async function attempt(
  { clock, limits }: AttemptParts,
  { provider, request }: ExchangeJob,
): Promise<ExchangedToken> {
  const abort = new AbortController();
  const work = (async () => provider.exchange(request, abort.signal))();
  const token = await within(clock, limits.attemptMs, work, () => {
    const hint = 'The token endpoint gave no answer in time.';
    const fault = new ExchangeFault('OBO_TEMPORARY', { mayRepeat: true, hint });
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
function pauseAfter(fault: ExchangeFault, { random, limits }: AttemptParts): number | undefined {
  const { mayRepeat, retryAfterMs = 0 } = fault.detail;
  if (!mayRepeat || retryAfterMs > limits.longestRetryAfterMs) return undefined;
  const jitter = limits.retryFromMs + random.uniform() * (limits.retryToMs - limits.retryFromMs);
  return Math.max(jitter, retryAfterMs);
}

function faultOf(error: unknown, { provider }: ExchangeJob, log: Log): ExchangeFault {
  if (error instanceof ExchangeFault) return error;
  // Not its message: it may quote the request.
  log('obo_provider_broken', {
    provider: provider.identity.provider,
    reason: error instanceof Error ? error.name : 'unknown',
  });
  return new ExchangeFault('OBO_TEMPORARY', { cause: error });
}
