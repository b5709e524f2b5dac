import { withTimeout, type Clock, type Keyring, type Leases, type Random } from '@behalf/kernel';
import type { Cache } from '../../ports/index.ts';
import type { Log } from '../../upstream/parts.ts';
import { exchangeWithRetry, type RequestCounter } from './exchangeWithRetry.ts';
import { createInFlightExchanges, type InFlightExchange, type ExchangeMode } from './inFlightExchanges.ts';
import { createEndpointBackoff } from './endpointBackoff.ts';
import { ExchangeFault, type FaultCode } from './exchangeFault.ts';
import type { ExchangedToken } from './exchangeProvider.ts';
import type { ExchangeResult, Exchanger, ExchangeJob } from './exchanger.ts';
import { exchangerLimits, type ExchangerLimits } from './exchangerLimits.ts';
import { createNegativeCache } from './negativeCache.ts';
import { findMissingScopes } from './missingScopes.ts';
import { createMemoryTier } from './memoryTier.ts';
import { createSharedTier } from './sharedTier.ts';
import { createTokenCache } from './tokenCache.ts';
import { withExchangeLease } from './exchangeLease.ts';

/** What came of one exchange, however many waited for it. Holds no token but the ones in the job. */
export interface ExchangeEvent {
  /** Of who came first. */
  readonly job: ExchangeJob;
  readonly outcome: 'ok' | FaultCode;
  /** Token requests made. */
  readonly requests: number;
  /** `memory`: no request was made because the answer was known, which it only is of faults. */
  readonly source: ExchangeResult['source'];
  readonly providerCode?: string | undefined;
  readonly hint?: string | undefined;
  readonly durationMs: number;
  readonly hasMissingScopes: boolean;
}

export interface ExchangerParts {
  /** A namespace of its own. */
  readonly cache: Cache;
  readonly leases: Leases;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** For the audit and the metrics. Tokens that were in memory are no exchange. */
  readonly record: (event: ExchangeEvent) => void;
  readonly limits?: Partial<ExchangerLimits>;
}

export function createExchanger(dependencies: ExchangerParts): Exchanger {
  const { clock, log, record } = dependencies;
  const limits = { ...exchangerLimits, ...dependencies.limits };
  const closing = new AbortController();
  const parts = { ...dependencies, limits, closing: closing.signal };
  const inFlight = createInFlightExchanges<ExchangeResult>();
  const memory = createMemoryTier(clock, limits);
  const shared = createSharedTier(parts);
  const tokens = createTokenCache({ memory, shared, clock, limits, inFlight: () => inFlight.all() });
  const negativeCache = createNegativeCache(clock, limits);
  const backoff = createEndpointBackoff(parts);
  let closed: Promise<void> | undefined;

  async function findCached(flight: InFlightExchange, job: ExchangeJob): Promise<ExchangeResult | undefined> {
    const token = await tokens.find(flight, job);
    return token && { token, source: 'cache', requests: 0 };
  }

  async function getOrExchange(
    flight: InFlightExchange,
    job: ExchangeJob,
    counter: RequestCounter,
  ): Promise<ExchangeResult> {
    const cached = await findCached(flight, job);
    if (cached) return cached;
    // Before waiting for a turn that would end the same way.
    negativeCache.throwIfCached(job);
    backoff.throwIfPaused(job);
    // Nothing to share it through: waiting for another's would be for nothing.
    if (!shared.isAvailable) return exchange(flight, job, counter);
    return withExchangeLease(
      parts,
      job.key,
      () => findCached(flight, job),
      () => exchange(flight, job, counter),
    );
  }

  async function exchange(
    flight: InFlightExchange,
    job: ExchangeJob,
    counter: RequestCounter,
  ): Promise<ExchangeResult> {
    closing.signal.throwIfAborted();
    requireUnexpiredSubject(job);
    negativeCache.throwIfCached(job);
    const recordOutcome = backoff.startAttempt(job);
    let token: ExchangedToken;
    try {
      token = await exchangeWithRetry(parts, job, counter);
    } catch (error) {
      const fault = error as ExchangeFault;
      recordOutcome(fault);
      negativeCache.add(job, fault);
      throw fault;
    }
    recordOutcome(undefined);
    negativeCache.remove(job);
    await tokens.store(flight, job, token);
    requireUnexpiredSubject(job);
    return { token, source: 'exchanged', requests: counter.requests };
  }

  /** Nothing that came of a user's token outlives it, also when the answer was slow. */
  function requireUnexpiredSubject({ request: { subject } }: ExchangeJob): void {
    if (subject.expiresAt > clock.now()) return;
    throw new ExchangeFault('OBO_REJECTED', {
      hint: 'The user’s token expired before the exchange completed.',
    });
  }

  async function runWithEvent(
    job: ExchangeJob,
    work: (counter: RequestCounter) => Promise<ExchangeResult>,
  ): Promise<ExchangeResult> {
    const counter: RequestCounter = { requests: 0 };
    const startedAt = clock.now();
    const emitEvent = (
      event: Pick<ExchangeEvent, 'outcome' | 'source' | 'hasMissingScopes'>,
      fault?: ExchangeFault,
    ) => {
      try {
        record({
          job,
          requests: counter.requests,
          durationMs: clock.now() - startedAt,
          providerCode: fault?.detail.providerCode,
          hint: fault?.detail.hint,
          ...event,
        });
      } catch (error) {
        log('obo_event_lost', { reason: error instanceof Error ? error.name : 'unknown' });
      }
    };
    try {
      const result = await work(counter);
      const isNew = result.source === 'exchanged';
      const missing = isNew ? findMissingScopes(job.request.scopes, result.token.scopes) : [];
      const hasMissingScopes = missing.length > 0;
      if (hasMissingScopes) {
        const { provider } = job.provider.identity;
        log('obo_scopes_missing', { server: job.holder.serverId, provider, missing: missing.join(' ') });
      }
      emitEvent({ outcome: 'ok', source: result.source, hasMissingScopes });
      return result;
    } catch (error) {
      const fault =
        error instanceof ExchangeFault ? error : new ExchangeFault('OBO_TEMPORARY', { cause: error });
      const source = counter.requests > 0 ? 'exchanged' : 'memory';
      emitEvent({ outcome: fault.code, source, hasMissingScopes: false }, fault);
      throw fault;
    }
  }

  function startOrJoin(mode: ExchangeMode, job: ExchangeJob): Promise<ExchangeResult> {
    if (closing.signal.aborted) return Promise.reject(closing.signal.reason as ExchangeFault);
    const run = mode === 'cached' ? getOrExchange : exchange;
    return inFlight.join(mode, job, (flight) => runWithEvent(job, (counter) => run(flight, job, counter)));
  }

  return {
    peek: (key) => tokens.peek(key),
    async obtain(job) {
      const token = tokens.peek(job.key);
      if (token && !job.signal.aborted) return { token, source: 'memory', requests: 0 };
      return startOrJoin('cached', job);
    },
    force: async (job) => startOrJoin('forced', job),
    evict: (key, token) => tokens.evict(key, token),
    evictPrincipal: (principal) => tokens.evictPrincipal(principal),
    evictServer: (tenant, serverId) => tokens.evictServer(tenant, serverId),
    close() {
      closing.abort(new ExchangeFault('OBO_TEMPORARY', { hint: 'The gateway is shutting down.' }));
      // An attempt that is under way ends by itself; what it brought is then written and its lease released.
      closed ??= withTimeout(
        clock,
        limits.attemptTimeoutMs + limits.sharedTimeoutMs,
        inFlight.idle(),
        () => undefined,
      ).finally(() => memory.close());
      return closed;
    },
  };
}
