import type { Clock } from '@behalf/kernel';
import { createLruMap } from '../lruMap.ts';
import { ExchangeFault } from './exchangeFault.ts';
import type { ExchangeJob } from './exchanger.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';

/**
 * Faults that asking again would only repeat. In this process alone: each asks once and then knows. What is known of one
 * key says nothing of another user's, nor of the same user's next token.
 */
export interface NegativeCache {
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
