import {
  type Clock,
  type Leases,
  type Random,
  abortReason,
  createSingleFlight,
  sleep,
  toAbortSignal,
  withTimeout,
} from '@behalf/kernel';
import { withLease } from '../../replication/withLease.ts';
import type { Log } from '../../upstream/upstream.ts';
import { ExchangeFault, type ExchangedToken } from './exchangeProvider.ts';
import type { ExchangeJob, ExchangerLimits } from './exchanger.ts';

/** An exchange in progress in this process. */
export interface InFlightExchange {
  readonly key: string;
  readonly holder: ExchangeJob['holder'];
  /** The holder was evicted after the start. Callers that already wait receive the result; it is not cached and cannot be joined. */
  isStale: boolean;
  /** Tokens that a server refused since the start. */
  readonly refusedTokens: Set<string>;
}

/** `cached`: a cached token suffices. `forced`: the caller needs a new token. */
export type ExchangeMode = 'cached' | 'forced';

interface InFlightExchanges<T> {
  /** Joins the running exchange of the same key and mode, or starts one. A caller that aborts never stops the exchange. */
  join(mode: ExchangeMode, job: ExchangeJob, work: (flight: InFlightExchange) => Promise<T>): Promise<T>;
  all(): Iterable<InFlightExchange>;
  idle(): Promise<void>;
}

/** Single flight per key and mode, with eviction of exchanges in progress. */
export function createInFlightExchanges<T>(): InFlightExchanges<T> {
  const flights = createSingleFlight<T>();
  const joinable = new Map<string, InFlightExchange & { readonly flightId: number }>();
  /** Includes stale exchanges, which cannot be joined. */
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
          // A newer exchange may have replaced a stale one.
          if (joinable.get(flightKey) === started) joinable.delete(flightKey);
        }
      };
      // The flight id separates callers after an eviction from the exchange that started before it.
      return flights.run([started.flightId], runFlight, { signal: toAbortSignal(signal), detached: true });
    },
    all: () => running,
    idle: () => flights.idle(),
  };
}

interface ExchangeParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: ExchangerLimits;
  /** Aborts when the gateway shuts down: waiting callers are rejected with its reason, and no retry starts. */
  readonly closing: AbortSignal;
}

const INITIAL_POLL_MS = 25;
const MAX_POLL_MS = 400;

/**
 * One exchange per key across replicas. Other replicas poll for the cached result. A duplicate exchange costs one request and
 * harms nothing, so neither a lease store outage nor a slow holder stops a caller.
 */
export function withExchangeLease<T>(
  { leases, clock, random, log, limits, closing }: ExchangeParts,
  key: string,
  findResult: () => Promise<T | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  const options = {
    ...({ key: `obo:${key}`, purpose: 'exchange', ttlMs: limits.leaseTtlMs } as const),
    requestTimeoutMs: limits.sharedTimeoutMs,
    waitMs: limits.maxLeaseWaitMs,
    findResult,
    wait: (attempt: number) => sleep(clock, Math.min(INITIAL_POLL_MS * 2 ** attempt, MAX_POLL_MS), closing),
    onBusy: 'run' as const,
    async onUnavailable(error: unknown) {
      log('obo_lease_failed', { reason: error instanceof Error ? error.message : 'unknown' });
      // Random delays let one replica finish before the others look for its result.
      await sleep(clock, random.uniform() * limits.staggerMs, closing);
    },
  };
  return withLease({ leases, clock }, options, work);
}

/** Counts token requests while they are sent, so that a failed exchange reports its cost too. */
export interface RequestCounter {
  requests: number;
}

/** Not configurable: one retry covers a lost packet; more retries would multiply the load on a failing provider. */
const MAX_REQUESTS = 2;

/** Exchanges the token, with one retry if the fault is retryable and the caller's budget permits. Rejects with ExchangeFault only. */
export async function exchangeWithRetry(
  parts: ExchangeParts,
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
  { clock, limits }: ExchangeParts,
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
  // Checked again after the provider: an empty or unbounded token must never be cached or presented.
  if (!token.token || !Number.isFinite(token.expiresAt) || !Number.isFinite(token.lifetimeMs)) {
    throw new ExchangeFault('OBO_EMPTY_RESPONSE');
  }
  return token;
}

/** Undefined: no retry. */
function retryDelay(fault: ExchangeFault, { random, limits }: ExchangeParts): number | undefined {
  const { isRetryable, retryAfterMs = 0 } = fault.detail;
  if (!isRetryable || retryAfterMs > limits.maxRetryAfterMs) return undefined;
  const jitter =
    limits.minRetryDelayMs + random.uniform() * (limits.maxRetryDelayMs - limits.minRetryDelayMs);
  return Math.max(jitter, retryAfterMs);
}

function toExchangeFault(error: unknown, { provider }: ExchangeJob, log: Log): ExchangeFault {
  if (error instanceof ExchangeFault) return error;
  // Not the message: it may quote the request.
  log('obo_provider_failed', {
    provider: provider.identity.provider,
    reason: error instanceof Error ? error.name : 'unknown',
  });
  return new ExchangeFault('OBO_TEMPORARY', { cause: error });
}
