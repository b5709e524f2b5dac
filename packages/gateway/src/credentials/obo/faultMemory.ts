import type { Clock } from '@behalf/kernel';
import { createLruMap } from '../lruMap.ts';
import { ExchangeFault } from './exchangeFault.ts';
import type { ExchangeJob } from './exchanger.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';

/**
 * Faults that asking again would only repeat. In this process alone: each asks once and then knows. What is known of one
 * key says nothing of another user's, nor of the same user's next token.
 */
export interface FaultMemory {
  /** Throws what is known to come of it. */
  check(job: ExchangeJob): void;
  learn(job: ExchangeJob, fault: ExchangeFault): void;
  forget(job: ExchangeJob): void;
}

type Limits = Pick<
  ExchangerLimits,
  'rejectedMs' | 'consentMs' | 'misconfiguredMs' | 'throttledMs' | 'longestThrottledMs'
>;

const MOST_FAULTS = 10_000;

interface Remembered {
  readonly fault: ExchangeFault;
  readonly until: number;
}

export function createFaultMemory(clock: Clock, limits: Limits): FaultMemory {
  const faults = createLruMap<Remembered>(MOST_FAULTS);

  function lastsFor({ code, detail }: ExchangeFault): number {
    if (code === 'OBO_REJECTED') return limits.rejectedMs;
    // Until the user has another token, which is another key.
    if (code === 'OBO_CONSENT_REQUIRED') return limits.consentMs;
    if (code === 'OBO_MISCONFIGURED') return limits.misconfiguredMs;
    // It answers, and would answer the same to every call.
    if (code === 'OBO_EMPTY_RESPONSE') return limits.throttledMs;
    const asked = detail.retryAfterMs ?? (detail.status === 429 ? limits.throttledMs : 0);
    return Math.min(asked, limits.longestThrottledMs);
  }

  function throwIfKnown(name: string): void {
    const known = faults.get(name);
    if (!known) return;
    const left = known.until - clock.now();
    if (left <= 0) return faults.delete(name);
    const { code, kind, detail } = known.fault;
    // Only what passes by itself comes with a time to come back: who must sign in gains nothing by waiting.
    throw new ExchangeFault(code, {
      ...detail,
      mayRepeat: false,
      ...(kind === 'idp_unavailable' && { retryAfterMs: left }),
    });
  }

  return {
    check(job) {
      throwIfKnown(keyName(job));
      throwIfKnown(setupName(job));
    },
    learn(job, fault) {
      const ms = lastsFor(fault);
      if (ms <= 0) return;
      const name = fault.kind === 'misconfigured' ? setupName(job) : keyName(job);
      faults.set(name, { fault, until: clock.now() + ms });
    },
    forget(job) {
      faults.delete(keyName(job));
      faults.delete(setupName(job));
    },
  };
}

function keyName({ key }: ExchangeJob): string {
  return JSON.stringify(['key', key]);
}

/**
 * What an operator would have to put right. Where the users' tokens come from is part of it: a caller whose own tokens
 * do not fit must not stop those who sign in here.
 */
function setupName({ holder, provider: { identity }, request }: ExchangeJob): string {
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
