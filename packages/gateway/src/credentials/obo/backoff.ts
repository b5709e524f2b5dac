import type { Clock } from '@behalf/kernel';
import type { Log } from '../../upstream/upstream.ts';
import { createLruMap } from '../lruMap.ts';
import { ExchangeFault } from './exchangeProvider.ts';
import type { ExchangeJob, ExchangerLimits } from './exchanger.ts';

/**
 * Faults that asking again would only repeat. In this process alone: each asks once and then knows. What is known of one
 * key says nothing of another user's, nor of the same user's next token.
 */
interface NegativeCache {
  /** Throws what is known to come of it. */
  throwIfCached(job: ExchangeJob): void;
  add(job: ExchangeJob, fault: ExchangeFault): void;
  remove(job: ExchangeJob): void;
}

type Limits = Pick<
  ExchangerLimits,
  'rejectedTtlMs' | 'consentTtlMs' | 'misconfiguredTtlMs' | 'throttledTtlMs' | 'maxThrottledMs'
>;

const MAX_FAULTS = 10_000;

interface CachedFault {
  readonly fault: ExchangeFault;
  readonly until: number;
}

export function createNegativeCache(clock: Clock, limits: Limits): NegativeCache {
  const faults = createLruMap<CachedFault>(MAX_FAULTS);

  function ttlOf({ code, detail }: ExchangeFault): number {
    if (code === 'OBO_REJECTED') return limits.rejectedTtlMs;
    // Until the user has another token, which is another key.
    if (code === 'OBO_CONSENT_REQUIRED') return limits.consentTtlMs;
    if (code === 'OBO_MISCONFIGURED') return limits.misconfiguredTtlMs;
    // It answers, and would answer the same to every call.
    if (code === 'OBO_EMPTY_RESPONSE') return limits.throttledTtlMs;
    const retryAfterMs = detail.retryAfterMs ?? (detail.status === 429 ? limits.throttledTtlMs : 0);
    return Math.min(retryAfterMs, limits.maxThrottledMs);
  }

  function throwIfStored(cacheKey: string): void {
    const cached = faults.get(cacheKey);
    if (!cached) return;
    const remainingMs = cached.until - clock.now();
    if (remainingMs <= 0) return faults.delete(cacheKey);
    const { code, kind, detail } = cached.fault;
    // Only what passes by itself comes with a time to come back: who must sign in gains nothing by waiting.
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
 * What an operator would have to put right. Where the users' tokens come from is part of it: a caller whose own tokens
 * do not fit must not stop those who sign in here.
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

/** Leaves a token endpoint alone that does not answer, or that asked for it. */
interface EndpointBackoff {
  /** Throws while it is left alone. */
  throwIfPaused(job: ExchangeJob): void;
  /** The same, and while another tries it out. Else the outcome must be told, once. */
  startAttempt(job: ExchangeJob): (fault: ExchangeFault | undefined) => void;
}

interface EndpointBackoffParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Pick<
    ExchangerLimits,
    'failuresToOpen' | 'throttledUsersToOpen' | 'openMs' | 'maxOpenMs' | 'maxThrottledMs'
  >;
}

const MAX_ENDPOINTS = 1_000;
/** Who comes while one is trying it out. */
const PROBE_RETRY_MS = 1_000;

interface EndpointState {
  failures: number;
  /** 0: closed. */
  openMs: number;
  openUntil: number;
  isProbing: boolean;
  /** Who was told to come back later since anybody last got a token. */
  readonly throttledPrincipals: Set<string>;
  throttledUntil: number;
}

export function createEndpointBackoff({ clock, log, limits }: EndpointBackoffParts): EndpointBackoff {
  const endpoints = createLruMap<EndpointState>(MAX_ENDPOINTS);

  function stateOf(name: string): EndpointState {
    const existing = endpoints.get(name);
    if (existing) return existing;
    const created: EndpointState = {
      failures: 0,
      openMs: 0,
      openUntil: 0,
      isProbing: false,
      throttledPrincipals: new Set(),
      throttledUntil: 0,
    };
    endpoints.set(name, created);
    return created;
  }

  function open(endpoint: EndpointState, ms: number, name: string): void {
    endpoint.openMs = Math.min(ms, limits.maxOpenMs);
    endpoint.openUntil = clock.now() + endpoint.openMs;
    log('obo_endpoint_backoff', { endpoint: name, ms: endpoint.openMs, reason: 'unavailable' });
  }

  /**
   * One user who is throttled says nothing of the others. When several are, with nobody served between them, it is us
   * who are; then the endpoint is left alone for as long as it asked, and never longer.
   */
  function throttle(
    endpoint: EndpointState,
    principal: string,
    retryAfterMs: number | undefined,
    name: string,
  ): void {
    if (retryAfterMs === undefined) return;
    endpoint.throttledPrincipals.add(principal);
    if (endpoint.throttledPrincipals.size < limits.throttledUsersToOpen) return;
    const ms = Math.min(retryAfterMs, limits.maxThrottledMs);
    endpoint.throttledUntil = Math.max(endpoint.throttledUntil, clock.now() + ms);
    endpoint.throttledPrincipals.clear();
    log('obo_endpoint_backoff', { endpoint: name, ms, reason: 'throttled' });
  }

  function rejectIfPaused({ throttledUntil, openUntil }: EndpointState): void {
    const remainingMs = Math.max(throttledUntil, openUntil) - clock.now();
    if (remainingMs > 0) throw pausedFault(remainingMs);
  }

  return {
    throwIfPaused: ({ provider }) => rejectIfPaused(stateOf(provider.identity.endpoint)),
    startAttempt({ provider, holder }) {
      const name = provider.identity.endpoint;
      const endpoint = stateOf(name);
      rejectIfPaused(endpoint);
      const isProbe = endpoint.openMs > 0;
      if (isProbe) {
        if (endpoint.isProbing) throw pausedFault(PROBE_RETRY_MS);
        endpoint.isProbing = true;
      }
      return (fault) => {
        if (isProbe) endpoint.isProbing = false;
        if (fault?.detail.status === 429) {
          throttle(endpoint, holder.principal, fault.detail.retryAfterMs, name);
        } else if (fault?.kind === 'idp_unavailable') {
          // What fails of itself, without the network or the provider, says nothing of the endpoint.
          if (!fault.detail.isRetryable) return;
          endpoint.failures += 1;
          // Those that were under way when it opened fail as well: only a probe makes it longer.
          if (isProbe) open(endpoint, endpoint.openMs * 2, name);
          else if (endpoint.openMs === 0 && endpoint.failures >= limits.failuresToOpen) {
            open(endpoint, limits.openMs, name);
          }
          return;
        } else if (fault === undefined) endpoint.throttledPrincipals.clear();
        // It answers, whatever it says.
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
