import {
  type Clock,
  type HeldLease,
  type Leases,
  type Random,
  abortReason,
  createSingleFlight,
  sleep,
  toAbortSignal,
  withTimeout,
} from '@behalf/kernel';
import type { Log } from '../../upstream/upstream.ts';
import { ExchangeFault, type ExchangedToken } from './exchangeProvider.ts';
import type { ExchangeJob, ExchangerLimits } from './exchanger.ts';

/** One exchange under way, as those know it who must make it forget. */
export interface InFlightExchange {
  readonly key: string;
  readonly holder: ExchangeJob['holder'];
  /** Its holder was evicted since it began: it serves who waits already, and is neither kept nor joined. */
  isStale: boolean;
  /** What servers refused since it began. */
  readonly refusedTokens: Set<string>;
}

export type ExchangeMode = 'cached' | 'forced';

interface InFlightExchanges<T> {
  /** Joins what is under way in this mode, or begins. Leaving never stops it. */
  join(mode: ExchangeMode, job: ExchangeJob, work: (flight: InFlightExchange) => Promise<T>): Promise<T>;
  all(): Iterable<InFlightExchange>;
  idle(): Promise<void>;
}

export function createInFlightExchanges<T>(): InFlightExchanges<T> {
  const flights = createSingleFlight<T>();
  /** The one that may be joined, by mode and key. */
  const joinable = new Map<string, InFlightExchange & { readonly flightId: number }>();
  /** Also those that nobody may join any more. */
  const running = new Set<InFlightExchange>();
  let lastFlightId = 0;

  return {
    join(mode, { key, holder, signal }, work) {
      if (signal.aborted) return Promise.reject(abortReason(signal));
      const flightKey = JSON.stringify([mode, key]);
      let flight = joinable.get(flightKey);
      if (!flight || flight.isStale) {
        flight = { key, holder, isStale: false, refusedTokens: new Set(), flightId: (lastFlightId += 1) };
        joinable.set(flightKey, flight);
        running.add(flight);
      }
      const started = flight;
      const runFlight = async () => {
        try {
          return await work(started);
        } finally {
          running.delete(started);
          // A stale one was replaced: it must not take its successor away.
          if (joinable.get(flightKey) === started) joinable.delete(flightKey);
        }
      };
      // The number keeps who comes after an eviction out of a flight that began before it.
      return flights.run([started.flightId], runFlight, { signal: toAbortSignal(signal), detached: true });
    },
    all: () => running,
    idle: () => flights.idle(),
  };
}

interface ExchangeLeaseParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: Pick<ExchangerLimits, 'sharedTimeoutMs' | 'leaseTtlMs' | 'maxLeaseWaitMs' | 'staggerMs'>;
  /** Its reason is what those get who wait for their turn. */
  readonly closing: AbortSignal;
}

const INITIAL_POLL_MS = 25;
const MAX_POLL_MS = 400;

/**
 * One process after the other: works, or takes what another's work has left where `look` finds it. The same work twice
 * costs a request and nothing else, so neither an outage of the leases nor a holder that does not end stops anybody.
 */
export async function withExchangeLease<T>(
  parts: ExchangeLeaseParts,
  key: string,
  findResult: () => Promise<T | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  const { clock, random, limits, closing } = parts;
  const deadline = clock.now() + limits.maxLeaseWaitMs;
  for (let pollMs = INITIAL_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const lease = await tryAcquire(parts, key);
    if (lease === 'unavailable') {
      await sleep(clock, random.uniform() * limits.staggerMs, closing);
      return (await findResult()) ?? work();
    }
    if (lease) return runAndRelease(parts, lease, findResult, work);
    if (clock.now() >= deadline) return work();
    await sleep(clock, pollMs, closing);
    const found = await findResult();
    if (found !== undefined) return found;
  }
}

async function runAndRelease<T>(
  { clock, limits }: ExchangeLeaseParts,
  lease: HeldLease,
  findResult: () => Promise<T | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    // Who held it before may have left what is wanted between our look and our turn.
    return (await findResult()) ?? (await work());
  } finally {
    // It lapses by itself; the outcome of the work is what counts.
    const released = lease.release().catch(() => false);
    await withTimeout(clock, limits.sharedTimeoutMs, released, () => false);
  }
}

/** Null: another's turn. */
async function tryAcquire(
  { leases, clock, log, limits }: ExchangeLeaseParts,
  key: string,
): Promise<HeldLease | null | 'unavailable'> {
  const pending = (async () => leases.acquire(`obo:${key}`, 'exchange', limits.leaseTtlMs))();
  try {
    return await withTimeout(clock, limits.sharedTimeoutMs, pending, () => {
      // Nobody uses it any more when it comes after all.
      pending.then((lease) => lease?.release()).catch(() => undefined);
      throw new Error('timed out');
    });
  } catch (error) {
    log('obo_lease_failed', { reason: error instanceof Error ? error.message : 'unknown' });
    return 'unavailable';
  }
}

interface ExchangeAttemptParts {
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
