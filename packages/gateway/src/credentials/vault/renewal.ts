import { createSingleFlight } from '@behalf/kernel';
import { credentialId, type CredentialKey } from '../../ports/index.ts';
import type { RefreshOnce } from './refreshOnce.ts';
import { fallbackOr, toDecisionInput, type RefreshContext, type RefreshStep } from './refreshContext.ts';
import { evaluateCredential } from './evaluateCredential.ts';
import type { ChangeBus } from './changeBus.ts';
import type { CredentialReader } from './credentialReader.ts';
import type { CredentialCache } from './credentialCache.ts';
import type { RefreshLeases } from './refreshLeases.ts';
import type { TokenOutcome } from './vault.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

export interface RenewalParts extends Pick<
  ResolvedVaultParts,
  'clock' | 'localClock' | 'random' | 'log' | 'timings'
> {
  readonly refreshOnce: RefreshOnce;
  readonly refreshLeases: RefreshLeases;
  readonly reader: CredentialReader;
  readonly credentialCache: CredentialCache;
  readonly changeBus: ChangeBus;
  readonly isClosing: () => boolean;
}

export interface Renewal {
  /** One for all who ask in this process, whoever of them stays. Another token than the refused one, or why not. */
  renew(key: CredentialKey, refusedToken?: string): Promise<TokenOutcome>;
  /** The same, where nobody waits for it: gives way to everybody. */
  renewEarly(key: CredentialKey): Promise<TokenOutcome>;
  /** What can be said while the store does not answer. */
  withoutStore(key: CredentialKey, refusedToken?: string): TokenOutcome;
  /** How many are under way. */
  readonly size: number;
  idle(): Promise<void>;
}

/** Others' writes make us look again; nobody writes this often. */
const MAX_ROUNDS = 12;
/** A flight that was under way may have ended with the very token that was refused. */
const MAX_FLIGHTS = 3;

export function createRenewal(parts: RenewalParts): Renewal {
  const { clock, localClock, random, log, timings } = parts;
  const { refreshOnce, refreshLeases, reader, credentialCache, changeBus, isClosing } = parts;
  const flights = createSingleFlight<TokenOutcome>();

  function withoutStore(key: CredentialKey, refusedToken?: string): TokenOutcome {
    const snapshot = credentialCache.getStale(credentialId(key));
    const decision = snapshot && evaluateCredential(snapshot, { refusedToken, now: clock.now() }, timings);
    if (decision?.kind === 'outcome' && decision.outcome.kind === 'token') return decision.outcome;
    if (decision?.kind === 'renew' && decision.fallback) return { kind: 'token', token: decision.fallback };
    return { kind: 'unavailable', reason: 'store', retryAfterMs: timings.backoffMs };
  }

  /** It is another's turn. */
  async function checkWithoutLease(refreshContext: RefreshContext): Promise<RefreshStep> {
    const decision = evaluateCredential(
      await reader.readFresh(refreshContext.key),
      toDecisionInput(refreshContext, clock.now()),
      timings,
    );
    return decision.kind === 'outcome' ? decision : { kind: 'busy' };
  }

  async function runStep(refreshContext: RefreshContext): Promise<RefreshStep> {
    const lease = await refreshLeases.tryAcquire(refreshContext.id);
    if (!lease) return checkWithoutLease(refreshContext);
    try {
      return await refreshOnce(refreshContext);
    } finally {
      await lease.release();
    }
  }

  /** Whoever waited in vain sends nothing: the holder may still be about to store what it got. */
  async function giveUp(
    refreshContext: RefreshContext,
    reason: 'refresh_busy' | 'closing',
  ): Promise<TokenOutcome> {
    const decision = evaluateCredential(
      await reader.readFresh(refreshContext.key),
      toDecisionInput(refreshContext, clock.now()),
      timings,
    );
    if (decision.kind === 'outcome') return decision.outcome;
    const busyOutcome = { kind: 'unavailable', reason, retryAfterMs: timings.backoffMs } as const;
    const fallbackStep = fallbackOr(decision.fallback, busyOutcome);
    return fallbackStep.kind === 'outcome' ? fallbackStep.outcome : busyOutcome;
  }

  async function runUntilOutcome(refreshContext: RefreshContext): Promise<TokenOutcome> {
    const deadline = localClock.now() + timings.waitMs;
    for (let round = 0; ; round += 1) {
      if (isClosing()) return giveUp(refreshContext, 'closing');
      const stepResult = await runStep(refreshContext);
      if (stepResult.kind === 'outcome') return stepResult.outcome;
      const isExpired = refreshContext.isEarly || localClock.now() >= deadline;
      if (stepResult.kind === 'busy' ? isExpired : round >= MAX_ROUNDS)
        return giveUp(refreshContext, 'refresh_busy');
      if (stepResult.kind === 'busy') {
        round = 0;
        await changeBus.waitForChange(refreshContext.id, timings.pollMs);
      } else if (stepResult.afterMs > 0) await changeBus.waitForChange(refreshContext.id, stepResult.afterMs);
    }
  }

  async function startRenewal(
    key: CredentialKey,
    refusedToken: string | undefined,
    isEarly: boolean,
  ): Promise<TokenOutcome> {
    const id = credentialId(key);
    const refreshContext = {
      key,
      id,
      owner: random.id(),
      refusedToken,
      isEarly,
      hasRetried: false,
      hasRediscovered: false,
    };
    try {
      return await runUntilOutcome(refreshContext);
    } catch (error) {
      log('vault_store_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      return withoutStore(key, refusedToken);
    }
  }

  return {
    withoutStore,
    async renew(key, refusedToken) {
      const id = credentialId(key);
      let outcome: TokenOutcome | undefined;
      for (let flight = 0; flight < MAX_FLIGHTS; flight += 1) {
        outcome = await flights.run([id], () => startRenewal(key, refusedToken, false), { detached: true });
        if (outcome.kind !== 'token' || outcome.token.accessToken !== refusedToken) return outcome;
      }
      return { kind: 'unavailable', reason: 'refresh_busy', retryAfterMs: timings.backoffMs };
    },
    renewEarly: (key) =>
      flights.run([credentialId(key), 'early'], () => startRenewal(key, undefined, true), { detached: true }),
    get size() {
      return flights.size;
    },
    idle: () => flights.idle(),
  };
}
