import { createSingleFlight } from '@behalf/kernel';
import { type CredentialKey, credentialId } from '../../ports/index.ts';
import { type ActiveLease, acquireLease } from '../../replication/withLease.ts';
import { evaluateCredential, toUnavailable } from './decide.ts';
import type { ChangeBus, CredentialReader } from './read.ts';
import { type RefreshContext, type RefreshStep, toTokenRequest } from './refreshErrors.ts';
import type { RefreshOnce } from './refreshOnce.ts';
import { type TokenOutcome, type VaultCore, errorName } from './vault.ts';

/** More rounds than concurrent writes of one credential can cause. */
const MAX_ROUNDS = 12;
/** A flight that the caller joins may end with the very token that the server refused. */
const MAX_FLIGHTS = 3;

export type Renewal = ReturnType<typeof createRenewal>;

/** Refreshes a credential: one flight per credential in this process, one lease holder across replicas. */
export function createRenewal(
  core: VaultCore,
  refreshOnce: RefreshOnce,
  reader: CredentialReader,
  changeBus: ChangeBus,
) {
  const { leases, localClock, random, log, timings } = core;
  const flights = createSingleFlight<TokenOutcome>();
  const activeLeases = new Set<Pick<ActiveLease, 'release'>>();

  /** The best outcome while the store is unreachable. */
  function withoutStore(key: CredentialKey, refusedToken?: string): TokenOutcome {
    const snapshot = reader.getStale(credentialId(key));
    const decision = snapshot && evaluateCredential(core, snapshot, { refusedToken });
    if (decision?.kind === 'outcome' && decision.outcome.kind === 'token') return decision.outcome;
    if (decision?.kind === 'renew' && decision.fallback) return { kind: 'token', token: decision.fallback };
    return toUnavailable(core, 'store');
  }

  const readDecision = async (refreshContext: RefreshContext) =>
    evaluateCredential(core, await reader.readFresh(refreshContext.key), toTokenRequest(refreshContext));

  /** Another replica refreshes: uses its result if it is there already. */
  async function checkWithoutLease(refreshContext: RefreshContext): Promise<RefreshStep> {
    const decision = await readDecision(refreshContext);
    return decision.kind === 'outcome' ? decision : { kind: 'busy' };
  }

  /**
   * Null if another caller holds the lease. Without an answer of the lease store every replica proceeds: the lease
   * only reduces contention, the claim in the record guarantees mutual exclusion.
   */
  async function tryAcquireLease(id: string): Promise<Pick<ActiveLease, 'release'> | null> {
    try {
      const lease = await acquireLease(
        { leases, clock: localClock },
        {
          key: `cred:${id}`,
          purpose: 'refresh',
          ttlMs: timings.leaseMs,
          requestTimeoutMs: timings.storeTimeoutMs,
          heartbeat: { intervalMs: timings.leaseRenewMs, maxHoldMs: timings.holdMs },
        },
      );
      if (lease) activeLeases.add(lease);
      return lease;
    } catch (error) {
      log('vault_lease_failed', { reason: errorName(error) });
      return { release: async () => undefined };
    }
  }

  async function runStep(refreshContext: RefreshContext): Promise<RefreshStep> {
    const lease = await tryAcquireLease(refreshContext.id);
    if (!lease) return checkWithoutLease(refreshContext);
    try {
      return await refreshOnce(refreshContext);
    } finally {
      activeLeases.delete(lease);
      await lease.release();
    }
  }

  /** Sends nothing: the lease holder may be about to store its result. */
  async function giveUp(
    refreshContext: RefreshContext,
    reason: 'refresh_busy' | 'closing',
  ): Promise<TokenOutcome> {
    const decision = await readDecision(refreshContext);
    if (decision.kind === 'outcome') return decision.outcome;
    return decision.fallback ? { kind: 'token', token: decision.fallback } : toUnavailable(core, reason);
  }

  async function runUntilOutcome(refreshContext: RefreshContext): Promise<TokenOutcome> {
    const { id, isEarly } = refreshContext;
    const deadline = localClock.now() + timings.waitMs;
    for (let round = 0; ; round += 1) {
      if (core.closingSince() !== Infinity) return giveUp(refreshContext, 'closing');
      const step = await runStep(refreshContext);
      if (step.kind === 'outcome') return step.outcome;
      if (step.kind === 'busy') {
        if (isEarly || localClock.now() >= deadline) return giveUp(refreshContext, 'refresh_busy');
        round = 0;
        await changeBus.waitForChange(id, timings.pollMs);
      } else {
        if (round >= MAX_ROUNDS) return giveUp(refreshContext, 'refresh_busy');
        if (step.afterMs > 0) await changeBus.waitForChange(id, step.afterMs);
      }
    }
  }

  async function startRenewal(
    key: CredentialKey,
    refusedToken: string | undefined,
    isEarly: boolean,
  ): Promise<TokenOutcome> {
    const state = { hasRetried: false, hasRediscovered: false };
    const owner = random.id();
    try {
      return await runUntilOutcome({ key, id: credentialId(key), owner, refusedToken, isEarly, ...state });
    } catch (error) {
      log('vault_store_failed', { reason: errorName(error) });
      return withoutStore(key, refusedToken);
    }
  }

  return {
    withoutStore,
    /** All callers in this process share one refresh, which continues if they leave. Does not return `refusedToken`. */
    async renew(key: CredentialKey, refusedToken?: string): Promise<TokenOutcome> {
      const id = credentialId(key);
      for (let flight = 0; flight < MAX_FLIGHTS; flight += 1) {
        const outcome = await flights.run([id], () => startRenewal(key, refusedToken, false), {
          detached: true,
        });
        if (outcome.kind !== 'token' || outcome.token.accessToken !== refusedToken) return outcome;
      }
      return toUnavailable(core, 'refresh_busy');
    },
    /** A refresh ahead of time. Gives up if another replica is refreshing. Does not reject. */
    renewEarly: (key: CredentialKey): Promise<TokenOutcome> =>
      flights.run([credentialId(key), 'early'], () => startRenewal(key, undefined, true), { detached: true }),
    /** The number of refreshes in flight. */
    get size(): number {
      return flights.size;
    },
    idle: () => flights.idle(),
    /** For shutdown: other replicas need not wait until the leases expire. */
    async releaseLeases(): Promise<void> {
      await Promise.all([...activeLeases].map((lease) => lease.release()));
    },
  };
}
