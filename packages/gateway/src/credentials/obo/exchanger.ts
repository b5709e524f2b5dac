import {
  type Cancellation,
  type Clock,
  type Keyring,
  type Leases,
  type Random,
  withTimeout,
} from '@behalf/kernel';
import type { Cache } from '../../ports/index.ts';
import type { Principal } from '../../principal/principal.ts';
import type { UserServer } from '../../definitions/definition.ts';
import type { Log } from '../../upstream/upstream.ts';
import { createEndpointBackoff, createNegativeCache } from './backoff.ts';
import { createMemoryTier, createSharedTier, createTokenCache } from './cache.ts';
import {
  type ExchangeMode,
  type InFlightExchange,
  type RequestCounter,
  createInFlightExchanges,
  exchangeWithRetry,
  withExchangeLease,
} from './exchangeFlight.ts';
import {
  ExchangeFault,
  type ExchangeProvider,
  type ExchangeRequest,
  type ExchangedToken,
  type FaultCode,
} from './exchangeProvider.ts';

/*
 * Obtains exchanged tokens (RFC 8693, RFC 7523, Entra On-Behalf-Of). Invariants:
 * - A token is found only under the key that names tenant, user, server revision, provider, subject token and scopes (`key.ts`).
 * - Concurrent requests for one key share one exchange: in this process by single flight, across replicas by a lease.
 * - A caller that aborts stops waiting and nothing else. The exchange continues for the other callers and for the cache.
 * - One call causes at most two token requests, retries included.
 * - No token outlives the user's own token from which it was exchanged.
 */

/** The part of a request that the audit records. */
export interface ExchangeContext {
  readonly server: UserServer;
  readonly principal: Principal;
  readonly scopes: string;
}

/** One request for a token. */
export interface ExchangeJob {
  readonly context: ExchangeContext;
  readonly provider: ExchangeProvider;
  readonly request: ExchangeRequest;
  /** The cache key, from `exchangeKey`. */
  readonly key: string;
  /** Identifies tokens that are evicted together. */
  readonly holder: {
    /** The tenant of the server; `*` for a server of all tenants. */
    readonly tenant: string;
    /** Tenant and user as one opaque key. */
    readonly principal: string;
    readonly serverId: string;
    readonly revision: string;
  };
  /** The token requests that this call may still cause: one or two. */
  readonly maxRequests: number;
  /** Ends the wait of this caller only. */
  readonly signal: Cancellation;
}

export interface ExchangeResult {
  readonly token: ExchangedToken;
  /** `exchanged`: this caller, or the caller whose exchange it joined, sent a token request. */
  readonly source: 'memory' | 'cache' | 'exchanged';
  /** Token requests that were sent while this caller waited. */
  readonly requests: number;
}

export interface Exchanger {
  /** A usable token from memory. No I/O. */
  peek(key: string): ExchangedToken | undefined;
  /** Rejects with ExchangeFault, or with the reason of the caller's signal. */
  obtain(job: ExchangeJob): Promise<ExchangeResult>;
  /** Ignores the cache, does not share a flight with `obtain`, and replaces the cached token. */
  force(job: ExchangeJob): Promise<ExchangeResult>;
  /** Removes a token that a server refused. A newer token under the same key stays. */
  evict(key: string, token: string): Promise<void>;
  /** After a sign-out or a lost permission. */
  evictPrincipal(principal: string): Promise<void>;
  /** After a change or removal of the server. */
  evictServer(tenant: string, serverId: string): Promise<void>;
  /** Resolves when all running exchanges ended. No new one starts. */
  close(): Promise<void>;
}

const exchangerLimits = {
  /** One token request. The exchange continues without a provider that ignores its signal. */
  attemptTimeoutMs: 10_000,
  /** The retry waits for a random time between these two. */
  minRetryDelayMs: 100,
  maxRetryDelayMs: 300,
  /** No retry if the provider asks for a longer delay. */
  maxRetryAfterMs: 5_000,
  /** Timeout of the shared cache and the lease store. */
  sharedTimeoutMs: 1_000,
  /** Pause after a failure of the shared cache. */
  cachePauseMs: 2_000,
  /** A crashed replica holds a lease for at most this time. */
  leaseTtlMs: 15_000,
  /** Maximum wait for the exchange of another replica. */
  maxLeaseWaitMs: 12_000,
  /** Without a lease store, replicas start at random times within this interval. */
  staggerMs: 250,
  /** A token with less remaining time is used once and not cached. */
  minCacheableMs: 5_000,
  /** Tokens in memory. */
  maxCachedTokens: 20_000,
  /** Interval at which expired tokens leave the memory. */
  sweepIntervalMs: 60_000,
  /** How long the negative cache keeps each kind of fault. */
  rejectedTtlMs: 30_000,
  consentTtlMs: 300_000,
  misconfiguredTtlMs: 60_000,
  /** After a 429 without `Retry-After`, and after a response without a token. */
  throttledTtlMs: 2_000,
  /** Maximum pause that a provider can request. */
  maxThrottledMs: 3_600_000,
  /** Consecutive failures that open the circuit of an endpoint. */
  failuresToOpen: 5,
  /** Throttled users that pause an endpoint for all users. */
  throttledUsersToOpen: 3,
  /** First pause of an endpoint. It doubles with each failed probe. */
  openMs: 5_000,
  maxOpenMs: 60_000,
};

export type ExchangerLimits = Readonly<typeof exchangerLimits>;

/** The outcome of one exchange, however many callers shared it. Contains no token except those in the job. */
export interface ExchangeEvent {
  /** The job of the first caller. */
  readonly job: ExchangeJob;
  readonly outcome: 'ok' | FaultCode;
  /** Token requests sent. */
  readonly requests: number;
  /** `memory`: a cached fault. A cached token causes no event. */
  readonly source: ExchangeResult['source'];
  readonly providerCode?: string | undefined;
  readonly hint?: string | undefined;
  readonly durationMs: number;
  readonly hasMissingScopes: boolean;
}

export interface ExchangerParts {
  /** In a separate namespace. */
  readonly cache: Cache;
  readonly leases: Leases;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** For the audit and the metrics. */
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
    // Before waiting for a lease: the result would be the same.
    negativeCache.throwIfCached(job);
    backoff.throwIfPaused(job);
    // Without the shared cache, another replica's token would not arrive here.
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

  /** Checked before and after the exchange, because the response may be slow. */
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
      // A running attempt ends by itself. Its token is stored and its lease released.
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

/** Scopes of the sign-in. Providers never list them in a token response. */
const SIGN_IN_SCOPES = new Set(['openid', 'profile', 'email', 'offline_access']);

/**
 * Requested scopes that were not granted. Providers return scopes with or without the resource prefix and with another case. `.default`
 * means all scopes that the operator granted, so it is not compared.
 */
function findMissingScopes(requested: readonly string[], granted: readonly string[] | undefined): string[] {
  if (granted === undefined) return [];
  const grantedScopes = new Set(granted.map((scope) => scope.toLowerCase()));
  const grantedNames = new Set([...grantedScopes].map(scopeNameOf));
  return requested.filter((scope) => {
    const text = scope.toLowerCase();
    const name = scopeNameOf(text);
    if (name === '.default' || SIGN_IN_SCOPES.has(text)) return false;
    // A name without a resource matches any resource. Two full names must match completely.
    return !(grantedScopes.has(name) || (name === text ? grantedNames : grantedScopes).has(text));
  });
}

function scopeNameOf(scope: string): string {
  return scope.slice(scope.lastIndexOf('/') + 1);
}
