import { type Cancellation, rejectOnAbort, withTimeout } from '@behalf/kernel';
import { type CredentialKey, credentialId } from '../../ports/index.ts';
import { createDpop } from '../oauth/dpop.ts';
import { createAppTokenRenewal } from './appTokens.ts';
import { createWithExclusiveUse, createWithRefreshToken } from './borrow.ts';
import { createCommit } from './commit.ts';
import { evaluateCredential } from './decide.ts';
import { createEarlyRenewal } from './earlyRenewal.ts';
import { createPendingTokenWrites, createTokenPersister } from './persist.ts';
import { type CredentialSnapshot, createChangeBus, createCredentialReader, createStoreTime } from './read.ts';
import { createRecovery } from './recover.ts';
import { createRenewal } from './refresh.ts';
import { createRefreshBackoff, createRefreshErrorHandler, initialVersion } from './refreshErrors.ts';
import { createRefreshOnce } from './refreshOnce.ts';
import { createCredentialRemoval, createRequireSignIn, createRevocationQueue } from './revoke.ts';
import { createLastUsedTracker, summarizeCredential } from './usage.ts';
import {
  type CredentialVault,
  type TokenOutcome,
  type VaultCore,
  type VaultEvent,
  type VaultParts,
  type VaultToken,
  errorName,
} from './vault.ts';

/** Durations and intervals in milliseconds. */
export const vaultTimings = Object.freeze({
  /** Timeout of a token request. */
  postMs: 10_000,
  /** The maximum age of the claim when the request is sent. The rest of the claim must cover the whole request. */
  sendWithinMs: 8_000,
  /** How long a claim excludes other replicas. */
  claimMs: 20_000,
  leaseMs: 25_000,
  leaseRenewMs: 8_000,
  /** How long to wait for a refresh of another replica. */
  waitMs: 30_000,
  pollMs: 100,
  /** How long to retry storing new tokens before the caller continues without. */
  holdMs: 40_000,
  /** Timeout of requests to the lease store and the change feed. */
  storeTimeoutMs: 1_000,
  /** Backoff after a failure of an authorization server: first value and maximum. */
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  /** How long a failure that would repeat itself is returned from memory. */
  failureCacheMs: 60_000,
  /** How long a token counts as new. A new token that a server refuses is not refreshed again. */
  refusedTokenMs: 30_000,
  /** A token is refreshed this long before it expires, or a tenth of its lifetime if that is less. */
  maxSkewMs: 60_000,
  /** Early renewal applies to credentials that were used within this time. */
  recentUseMs: 30 * 60_000,
  /** Early renewal applies to access tokens with at least this lifetime. */
  minEarlyLifetimeMs: 30_000,
  /** How long the absence of a credential is cached. */
  absentCacheMs: 10_000,
  /** How long calls continue with cached credentials while the store is unreachable. */
  maxStaleMs: 30_000,
  revokeTimeoutMs: 5_000,
  /** The minimum interval between two writes of a credential's last use. */
  usageIntervalMs: 60_000,
  closeTimeoutMs: 15_000,
});

export type VaultTimings = Readonly<Record<keyof typeof vaultTimings, number>>;

/** All timings multiplied by `factor`, for tests across processes. */
export function scaledTimings(factor: number): VaultTimings {
  const times: readonly [string, number][] = Object.entries(vaultTimings);
  return Object.fromEntries(times.map(([name, ms]) => [name, ms * factor])) as unknown as VaultTimings;
}

/**
 * Rejects timings that would allow a refresh token to be sent twice: a claim must outlive its request, a lease its
 * claim, and a waiting caller the lease.
 */
export function checkTimings(timings: VaultTimings): VaultTimings {
  const { postMs, sendWithinMs, claimMs, leaseMs, leaseRenewMs, waitMs, holdMs } = timings;
  const rules: readonly (readonly [rule: string, isMet: boolean])[] = [
    ['every timing is a positive number', Object.values(timings).every((ms: number) => ms > 0)],
    ['postMs < claimMs', postMs < claimMs],
    ['sendWithinMs + postMs < claimMs', sendWithinMs + postMs < claimMs],
    ['claimMs < leaseMs', claimMs < leaseMs],
    ['2 * leaseRenewMs < leaseMs', 2 * leaseRenewMs < leaseMs],
    ['leaseMs < waitMs', leaseMs < waitMs],
    ['claimMs < holdMs', claimMs < holdMs],
  ];
  const violated = rules.filter(([, isMet]) => !isMet).map(([rule]) => rule);
  if (violated.length > 0) throw new RangeError(`Invalid vault timings: ${violated.join('; ')}`);
  return Object.freeze({ ...timings });
}

export function createVault(parts: VaultParts): CredentialVault {
  const timings = checkTimings({ ...vaultTimings, ...parts.timings });
  const { store, log, clock: localClock } = parts;
  const storeTime = createStoreTime(store, localClock);
  const { clock } = storeTime;
  const dpop = createDpop({ clock: localClock, random: parts.random });
  let closingSince = Infinity;
  const core: VaultCore = {
    ...parts,
    ...{ dpop, timings, clock, localClock, recordEvent },
    closingSince: () => closingSince,
  };
  const lastUsedTracker = createLastUsedTracker(core);
  const reader = createCredentialReader(core, storeTime, (record) => persister.applyPending(record));
  const changeBus = createChangeBus(core, reader.invalidate);
  const backoff = createRefreshBackoff(core);
  const revocationQueue = createRevocationQueue(core);
  const pendingTokenWrites = createPendingTokenWrites(core);
  const persister = createTokenPersister(core, pendingTokenWrites, revocationQueue, changeBus);
  const earlyRenewal = createEarlyRenewal(core, (key) => renewal.renewEarly(key));
  const commit = createCommit(core, revocationQueue, changeBus, backoff, (record) =>
    earlyRenewal.recordUse(record),
  );
  const refreshOnce = createRefreshOnce({
    ...{ core, reader, backoff, persister, pendingTokenWrites, changeBus },
    handleRefreshError: createRefreshErrorHandler(core, backoff, changeBus),
    renewAppToken: createAppTokenRenewal(core, reader, backoff, changeBus, commit),
    onRenewed: (record) => earlyRenewal.recordRenewal(record),
  });
  const renewal = createRenewal(core, refreshOnce, reader, changeBus);
  const recover = createRecovery(core, reader, renewal);
  const removal = createCredentialRemoval(core, revocationQueue, changeBus, pendingTokenWrites, persister);
  const withExclusiveUse = createWithExclusiveUse(core);
  const withRefreshToken = createWithRefreshToken({
    ...{ core, reader, renewal, persister, changeBus, revocationQueue, withExclusiveUse },
  });
  const providedListeners = new Set<(token: VaultToken) => void>();
  /** A call with an unchanged snapshot costs one lookup. */
  const tokensBySnapshot = new WeakMap<CredentialSnapshot, VaultToken>();
  let closed: Promise<void> | undefined;

  function recordEvent(event: VaultEvent): void {
    if (event.kind === 'refresh')
      lastUsedTracker.recordRenewal(credentialId(event.credential), event.outcome);
    try {
      parts.record(event);
    } catch (error) {
      log('vault_event_lost', { reason: errorName(error) });
    }
  }

  function recordUse({ record, context }: CredentialSnapshot): void {
    if (!record) return;
    lastUsedTracker.recordUse(record.id);
    earlyRenewal.recordUse(record, context);
  }

  function notifyProvided(token: VaultToken): VaultToken {
    for (const listener of providedListeners) listener(token);
    return token;
  }

  /** `work` continues if the caller aborts. */
  async function provideOutcome(
    work: Promise<TokenOutcome>,
    signal: Cancellation | undefined,
  ): Promise<TokenOutcome> {
    const outcome = await (signal ? rejectOnAbort(work, signal) : work);
    if (outcome.kind === 'token') notifyProvided(outcome.token);
    return outcome;
  }

  function peek(key: CredentialKey): VaultToken | undefined {
    const token = peekToken(key);
    return token && notifyProvided(token);
  }

  function peekToken(key: CredentialKey): VaultToken | undefined {
    const snapshot = reader.getCached(credentialId(key));
    if (!snapshot) return undefined;
    const previous = tokensBySnapshot.get(snapshot);
    if (previous && clock.now() < previous.usableUntil) {
      recordUse(snapshot);
      return previous;
    }
    const decision = evaluateCredential(core, snapshot);
    if (decision.kind !== 'outcome' || decision.outcome.kind !== 'token') return undefined;
    tokensBySnapshot.set(snapshot, decision.outcome.token);
    recordUse(snapshot);
    return decision.outcome.token;
  }

  async function obtainToken(key: CredentialKey): Promise<TokenOutcome> {
    let snapshot: CredentialSnapshot;
    try {
      snapshot = await reader.readRecent(key);
    } catch (error) {
      log('vault_store_failed', { reason: errorName(error) });
      return renewal.withoutStore(key);
    }
    const decision = evaluateCredential(core, snapshot);
    if (decision.kind === 'outcome') {
      recordUse(snapshot);
      return decision.outcome;
    }
    const activeBackoff = backoff.current(snapshot.record ?? initialVersion(credentialId(key)));
    if (!activeBackoff) return renewal.renew(key);
    return decision.fallback ? { kind: 'token', token: decision.fallback } : activeBackoff;
  }

  async function close(): Promise<void> {
    closingSince = localClock.now();
    earlyRenewal.close();
    // Callers that wait for another replica give up at once.
    changeBus.wakeAll();
    const pendingWork = Promise.all([renewal.idle(), revocationQueue.idle(), lastUsedTracker.idle()]);
    await withTimeout(localClock, timings.closeTimeoutMs, pendingWork, () => log('vault_close_timeout', {}));
    await renewal.releaseLeases();
    persister.close();
    changeBus.close();
    reader.close();
  }

  return {
    peek,
    async token(key, { signal } = {}) {
      const token = peek(key);
      return token ? { kind: 'token', token } : provideOutcome(obtainToken(key), signal);
    },
    recover: (key, refusedToken, { signal } = {}) => provideOutcome(recover(key, refusedToken), signal),
    commit,
    ...removal,
    requireSignIn: createRequireSignIn(core, changeBus),
    async list(tenant, principal, serverId) {
      const records = await store.list(tenant, principal, serverId);
      return Promise.all(records.map((record) => summarizeCredential(core, record)));
    },
    async find(key) {
      const record = await store.find(key);
      return record && summarizeCredential(core, record);
    },
    async makeDefault(id) {
      const isUpdated = await store.makeDefault(id);
      if (isUpdated) await changeBus.publish(id);
      return isUpdated;
    },
    withExclusiveUse,
    withRefreshToken,
    onChange: (listener) => changeBus.onChange(listener),
    onTokenProvided(listener) {
      providedListeners.add(listener);
      return () => void providedListeners.delete(listener);
    },
    get activeRenewals() {
      return renewal.size;
    },
    close: () => (closed ??= close()),
  };
}
