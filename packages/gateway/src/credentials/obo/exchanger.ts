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
import type { UserServer } from '../../servers/definition.ts';
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

/** In whose name a token is wanted, and what for: what is written down about it. */
export interface ExchangeContext {
  readonly server: UserServer;
  readonly principal: Principal;
  readonly scopes: string;
}

/** One wish for a token. */
export interface ExchangeJob {
  readonly context: ExchangeContext;
  readonly provider: ExchangeProvider;
  readonly request: ExchangeRequest;
  /** Names exactly this token: made by `exchangeKey`. */
  readonly key: string;
  /** Whose it is and what for: what is forgotten together. */
  readonly holder: {
    /** The server's; `*` for one that every tenant has. */
    readonly tenant: string;
    /** Tenant and user as one opaque key. */
    readonly principal: string;
    readonly serverId: string;
    readonly revision: string;
  };
  /** How many token requests may be made for this caller, one or two. */
  readonly maxRequests: number;
  /** Ends this caller's waiting and nothing else. */
  readonly signal: Cancellation;
}

export interface ExchangeResult {
  readonly token: ExchangedToken;
  /** Where it was found. `exchanged`: a token request was made for it, by this caller or one it joined. */
  readonly source: 'memory' | 'cache' | 'exchanged';
  /** Token requests that were made while this caller waited. */
  readonly requests: number;
}

/** Exchanged tokens: each is asked for once, by whoever comes first, and kept for as long as it may be used. */
export interface Exchanger {
  /** A usable token that is in memory; without I/O. */
  peek(key: string): ExchangedToken | undefined;
  /** Rejects with ExchangeFault or the reason of the caller's own signal. */
  obtain(job: ExchangeJob): Promise<ExchangeResult>;
  /** A new one whatever is kept. Nobody who would take a kept one joins it; it replaces what is kept. */
  force(job: ExchangeJob): Promise<ExchangeResult>;
  /** The server refused this very token. One that took its place meanwhile stays. */
  evict(key: string, token: string): Promise<void>;
  /** They signed out, or may not any more. */
  evictPrincipal(principal: string): Promise<void>;
  /** The server changed or is gone. */
  evictServer(tenant: string, serverId: string): Promise<void>;
  /** Resolves when what is under way has ended; nothing is begun after it. */
  close(): Promise<void>;
}

/** How long and how often. Times in milliseconds. */
export interface ExchangerLimits {
  /** One token request. A provider that does not listen to its signal is left behind. */
  readonly attemptTimeoutMs: number;
  /** The one repetition comes after a random time between these two. */
  readonly minRetryDelayMs: number;
  readonly maxRetryDelayMs: number;
  /** Who is asked to come back later than this is told so and repeats nothing. */
  readonly maxRetryAfterMs: number;
  /** What the cache and the leases may take to answer: a token is worth more than either. */
  readonly sharedTimeoutMs: number;
  /** For how long a cache that failed is left alone. */
  readonly cachePauseMs: number;
  /** A process that died with it stops nobody for longer. */
  readonly leaseTtlMs: number;
  /** For how long somebody else's exchange is waited for. */
  readonly maxLeaseWaitMs: number;
  /** Without leases, processes begin at random times within this, and look again before they exchange. */
  readonly staggerMs: number;
  /** A token with less left is used by who waited for it and not kept. */
  readonly minCacheableMs: number;
  /** Tokens in memory. */
  readonly maxCachedTokens: number;
  /** How often tokens that are over leave the memory. */
  readonly sweepIntervalMs: number;
  /** For how long a fault is the answer without asking again. */
  readonly rejectedTtlMs: number;
  readonly consentTtlMs: number;
  readonly misconfiguredTtlMs: number;
  /** After a 429 that does not say for how long, and after an answer without a token. */
  readonly throttledTtlMs: number;
  /** However long a provider asks to be left alone. */
  readonly maxThrottledMs: number;
  /** Failed exchanges in a row, with nothing between them, after which an endpoint is left alone. */
  readonly failuresToOpen: number;
  /** Users who were told to come back later, after which it counts for the whole endpoint. */
  readonly throttledUsersToOpen: number;
  /** How long an endpoint is left alone at first; doubles with each probe that fails, up to the longest. */
  readonly openMs: number;
  readonly maxOpenMs: number;
}

const exchangerLimits: ExchangerLimits = {
  attemptTimeoutMs: 10_000,
  minRetryDelayMs: 100,
  maxRetryDelayMs: 300,
  maxRetryAfterMs: 5_000,
  sharedTimeoutMs: 1_000,
  cachePauseMs: 2_000,
  leaseTtlMs: 15_000,
  maxLeaseWaitMs: 12_000,
  staggerMs: 250,
  minCacheableMs: 5_000,
  maxCachedTokens: 20_000,
  sweepIntervalMs: 60_000,
  rejectedTtlMs: 30_000,
  consentTtlMs: 300_000,
  misconfiguredTtlMs: 60_000,
  throttledTtlMs: 2_000,
  maxThrottledMs: 3_600_000,
  failuresToOpen: 5,
  throttledUsersToOpen: 3,
  openMs: 5_000,
  maxOpenMs: 60_000,
};

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

/** Asked of every provider and never listed among what a token is good for. */
const SIGN_IN_SCOPES = new Set(['openid', 'profile', 'email', 'offline_access']);

/**
 * What was asked for and not granted. Providers list scopes with or without the resource before them, and in letters of
 * their own. `.default` stands for whatever the operator granted: there is nothing to compare.
 */
function findMissingScopes(requested: readonly string[], granted: readonly string[] | undefined): string[] {
  if (granted === undefined) return [];
  const grantedScopes = new Set(granted.map((scope) => scope.toLowerCase()));
  const grantedNames = new Set([...grantedScopes].map(scopeNameOf));
  return requested.filter((scope) => {
    const text = scope.toLowerCase();
    const name = scopeNameOf(text);
    if (name === '.default' || SIGN_IN_SCOPES.has(text)) return false;
    // A name alone may be of any resource; with a resource before both, it must be the same one.
    return !(grantedScopes.has(name) || (name === text ? grantedNames : grantedScopes).has(text));
  });
}

function scopeNameOf(scope: string): string {
  return scope.slice(scope.lastIndexOf('/') + 1);
}
