import { type Clock, LruMap } from '@behalf/kernel';
import type { Log } from '../../upstream/upstream.ts';
import { ExchangeFault } from './exchangeProvider.ts';
import type { ExchangeJob, ExchangerLimits } from './exchanger.ts';

/*
 * Limits repeated failures of this process in two ways. The negative cache answers a request whose fault would repeat. The endpoint
 * backoff is a circuit breaker per token endpoint, for outages and throttling.
 */

/** Faults by exchange key. A fault of one key says nothing about another user, or about the user's next token. */
interface NegativeCache {
  throwIfCached(job: ExchangeJob): void;
  add(job: ExchangeJob, fault: ExchangeFault): void;
  remove(job: ExchangeJob): void;
}

const MAX_FAULTS = 10_000;

export function createNegativeCache(clock: Clock, limits: ExchangerLimits): NegativeCache {
  const faults = new LruMap<string, { readonly fault: ExchangeFault; readonly until: number }>(MAX_FAULTS);

  function ttlOf({ code, detail }: ExchangeFault): number {
    switch (code) {
      case 'OBO_REJECTED':
        return limits.rejectedTtlMs;
      case 'OBO_CONSENT_REQUIRED':
        // A new sign-in gives the user another token and therefore another key.
        return limits.consentTtlMs;
      case 'OBO_MISCONFIGURED':
        return limits.misconfiguredTtlMs;
      case 'OBO_EMPTY_RESPONSE':
        // The endpoint is up and would send the same response to each call.
        return limits.throttledTtlMs;
      case 'OBO_TEMPORARY': {
        const retryAfterMs = detail.retryAfterMs ?? (detail.status === 429 ? limits.throttledTtlMs : 0);
        return Math.min(retryAfterMs, limits.maxThrottledMs);
      }
    }
  }

  function throwIfStored(cacheKey: string): void {
    const cached = faults.get(cacheKey);
    if (!cached) return;
    const remainingMs = cached.until - clock.now();
    if (remainingMs <= 0) return void faults.delete(cacheKey);
    const { code, kind, detail } = cached.fault;
    // Only a temporary fault names a time to retry: waiting does not help a user who must sign in.
    throw new ExchangeFault(code, {
      ...detail,
      isRetryable: false,
      ...(kind === 'idp_unavailable' && { retryAfterMs: remainingMs }),
    });
  }

  return {
    throwIfCached(job) {
      throwIfStored(tokenKey(job));
      throwIfStored(configurationKey(job));
    },
    add(job, fault) {
      const ttlMs = ttlOf(fault);
      if (ttlMs <= 0) return;
      const cacheKey = fault.kind === 'misconfigured' ? configurationKey(job) : tokenKey(job);
      faults.set(cacheKey, { fault, until: clock.now() + ttlMs });
    },
    remove(job) {
      faults.delete(tokenKey(job));
      faults.delete(configurationKey(job));
    },
  };
}

function tokenKey({ key }: ExchangeJob): string {
  return JSON.stringify(['key', key]);
}

/**
 * Identifies the configuration that the operator would have to correct. It includes the source of the subject token: a caller whose own
 * bearer tokens are unsuitable must not block users who sign in at the gateway.
 */
function configurationKey({ holder, provider: { identity }, request }: ExchangeJob): string {
  return JSON.stringify([
    'setup',
    holder.tenant,
    holder.serverId,
    holder.revision,
    identity.provider,
    identity.grant,
    identity.endpoint,
    identity.clientId,
    identity.credentialVersion,
    identity.actor,
    request.subject.issuer,
    request.subject.via,
    request.scopes,
    request.audience ?? null,
    request.resource ?? null,
    request.claims ?? null,
  ]);
}

/** Circuit breaker of token endpoints. */
interface EndpointBackoff {
  /** Throws while the endpoint is paused. */
  throwIfPaused(job: ExchangeJob): void;
  /** Throws while the endpoint is paused or probed. Otherwise returns a function that must be called once with the outcome. */
  startAttempt(job: ExchangeJob): (fault: ExchangeFault | undefined) => void;
}

interface EndpointBackoffParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: ExchangerLimits;
}

const MAX_ENDPOINTS = 1_000;
/** `retryAfterMs` for callers while another request probes the endpoint. */
const PROBE_RETRY_MS = 1_000;

interface EndpointState {
  failures: number;
  /** 0: the circuit is closed. */
  openMs: number;
  openUntil: number;
  isProbing: boolean;
  /** Users who received a 429 since the last issued token. */
  readonly throttledPrincipals: Set<string>;
  throttledUntil: number;
}

export function createEndpointBackoff({ clock, log, limits }: EndpointBackoffParts): EndpointBackoff {
  const endpoints = new LruMap<string, EndpointState>(MAX_ENDPOINTS);

  function stateOf(name: string): EndpointState {
    const existing = endpoints.get(name);
    if (existing) return existing;
    const closed = { failures: 0, openMs: 0, openUntil: 0, isProbing: false, throttledUntil: 0 };
    const created: EndpointState = { ...closed, throttledPrincipals: new Set() };
    endpoints.set(name, created);
    return created;
  }

  function open(endpoint: EndpointState, ms: number, name: string): void {
    endpoint.openMs = Math.min(ms, limits.maxOpenMs);
    endpoint.openUntil = clock.now() + endpoint.openMs;
    log('obo_endpoint_backoff', { endpoint: name, ms: endpoint.openMs, reason: 'unavailable' });
  }

  /**
   * A 429 for one user says nothing about others. After several users without a success in between, the provider throttles the gateway:
   * the endpoint is paused for the requested time.
   */
  function throttle(endpoint: EndpointState, principal: string, retryAfterMs: number, name: string): void {
    endpoint.throttledPrincipals.add(principal);
    if (endpoint.throttledPrincipals.size < limits.throttledUsersToOpen) return;
    const ms = Math.min(retryAfterMs, limits.maxThrottledMs);
    endpoint.throttledUntil = Math.max(endpoint.throttledUntil, clock.now() + ms);
    endpoint.throttledPrincipals.clear();
    log('obo_endpoint_backoff', { endpoint: name, ms, reason: 'throttled' });
  }

  function throwIfEndpointPaused({ throttledUntil, openUntil }: EndpointState): void {
    const remainingMs = Math.max(throttledUntil, openUntil) - clock.now();
    if (remainingMs > 0) throw pausedFault(remainingMs);
  }

  return {
    throwIfPaused: ({ provider }) => throwIfEndpointPaused(stateOf(provider.identity.endpoint)),
    startAttempt({ provider, holder }) {
      const name = provider.identity.endpoint;
      const endpoint = stateOf(name);
      throwIfEndpointPaused(endpoint);
      const isProbe = endpoint.openMs > 0;
      if (isProbe) {
        if (endpoint.isProbing) throw pausedFault(PROBE_RETRY_MS);
        endpoint.isProbing = true;
      }
      return (fault) => {
        if (isProbe) endpoint.isProbing = false;
        if (fault?.detail.status === 429) {
          const { retryAfterMs } = fault.detail;
          if (retryAfterMs !== undefined) throttle(endpoint, holder.principal, retryAfterMs, name);
        } else if (fault?.kind === 'idp_unavailable') {
          // A fault inside the gateway says nothing about the endpoint.
          if (!fault.detail.isRetryable) return;
          endpoint.failures += 1;
          // Only a failed probe extends the pause. Requests that were in flight when the circuit opened fail too.
          if (isProbe) open(endpoint, endpoint.openMs * 2, name);
          else if (endpoint.openMs === 0 && endpoint.failures >= limits.failuresToOpen) {
            open(endpoint, limits.openMs, name);
          }
          return;
        } else if (fault === undefined) endpoint.throttledPrincipals.clear();
        // Any other response shows that the endpoint is up.
        endpoint.failures = 0;
        endpoint.openMs = 0;
        endpoint.openUntil = 0;
      };
    },
  };
}

function pausedFault(retryAfterMs: number): ExchangeFault {
  return new ExchangeFault('OBO_TEMPORARY', {
    retryAfterMs,
    hint: 'The token endpoint is failing or throttling. Requests to it are paused for a moment.',
  });
}
