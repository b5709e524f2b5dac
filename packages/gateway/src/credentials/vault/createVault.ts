import { type Cancellation, rejectOnAbort, withTimeout } from '@behalf/kernel';
import { type CredentialKey, credentialId } from '../../ports/index.ts';
import { createDpop } from '../oauth/dpop.ts';
import { createAppTokenRenewal } from './appTokens.ts';
import { createWithExclusiveUse, createWithRefreshToken } from './borrow.ts';
import { evaluateCredential } from './decide.ts';
import { createCommit, createPendingTokenWrites, createTokenPersister } from './persist.ts';
import {
  type CredentialSnapshot,
  createChangeBus,
  createCredentialCache,
  createCredentialReader,
  createStoreTime,
} from './read.ts';
import { createEarlyRenewal, createRecovery, createRefreshLeases, createRenewal } from './refresh.ts';
import { createRefreshBackoff, createRefreshErrorHandler, initialVersion } from './refreshErrors.ts';
import { createRefreshOnce } from './refreshOnce.ts';
import { createCredentialRemoval, createRequireSignIn, createRevocationQueue } from './revoke.ts';
import { createLastUsedTracker, summarizeCredential } from './usage.ts';
import type {
  CredentialVault,
  ResolvedVaultParts,
  TokenOutcome,
  VaultEvent,
  VaultParts,
  VaultToken,
} from './vault.ts';

/** How long and how often, in milliseconds. */
export interface VaultTimings {
  /** One token request. */
  readonly postMs: number;
  /** How old our claim may be when the request leaves: after it there must be time for the whole request. */
  readonly sendWithinMs: number;
  /** For how long nobody else may send the same refresh token. */
  readonly claimMs: number;
  readonly leaseMs: number;
  readonly leaseRenewMs: number;
  /** For how long somebody else's refresh is waited for. */
  readonly waitMs: number;
  readonly pollMs: number;
  /** For how long a pair that was received is tried to be stored before it goes aside. */
  readonly holdMs: number;
  /** What the leases may take to answer. */
  readonly storeTimeoutMs: number;
  /** Between attempts at an authorization server that is away; doubles up to the longest. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** For how long an answer that would only be repeated stands. */
  readonly failureCacheMs: number;
  /** For how long a new token that was refused all the same is not renewed again. */
  readonly refusedTokenMs: number;
  /** Every token is renewed this long before its end at most, and a tenth of its lifetime at most. */
  readonly maxSkewMs: number;
  /** Renewed before anybody asks: only what was used this recently, and lives this long. */
  readonly recentUseMs: number;
  readonly minEarlyLifetimeMs: number;
  /** That a server has no credential is remembered this long at most. */
  readonly absentCacheMs: number;
  /** For how long calls run on while the store does not answer. */
  readonly maxStaleMs: number;
  readonly revokeTimeoutMs: number;
  readonly usageIntervalMs: number;
  readonly closeTimeoutMs: number;
}

export const vaultTimings: VaultTimings = {
  postMs: 10_000,
  sendWithinMs: 8_000,
  claimMs: 20_000,
  leaseMs: 25_000,
  leaseRenewMs: 8_000,
  waitMs: 30_000,
  pollMs: 100,
  holdMs: 40_000,
  storeTimeoutMs: 1_000,
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  failureCacheMs: 60_000,
  refusedTokenMs: 30_000,
  maxSkewMs: 60_000,
  recentUseMs: 30 * 60_000,
  minEarlyLifetimeMs: 30_000,
  absentCacheMs: 10_000,
  maxStaleMs: 30_000,
  revokeTimeoutMs: 5_000,
  usageIntervalMs: 60_000,
  closeTimeoutMs: 15_000,
};

/** The same chain, faster or slower: for who tests it across processes. */
export function scaledTimings(factor: number): VaultTimings {
  const times: readonly [string, number][] = Object.entries(vaultTimings);
  return Object.fromEntries(times.map(([name, ms]) => [name, ms * factor])) as unknown as VaultTimings;
}

/**
 * Each of these outlasts the one before it, or a refresh token is sent twice: a request its claim, a claim its lease, and
 * who waits the holder.
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
  const dpop = parts.dpop ?? createDpop({ clock: localClock, random: parts.random });
  const tools: ResolvedVaultParts = { ...parts, dpop, timings, clock: storeTime.clock, localClock, record };
  const { clock } = tools;

  let closingSince = Infinity;
  let closed: Promise<void> | undefined;
  const isClosing = () => closingSince !== Infinity;

  const lastUsedTracker = createLastUsedTracker(tools);
  const credentialCache = createCredentialCache(tools);
  const changeBus = createChangeBus({ ...tools, invalidate: (change) => credentialCache.invalidate(change) });
  const backoff = createRefreshBackoff(tools);
  const refreshLeases = createRefreshLeases(tools);
  const revocationQueue = createRevocationQueue(tools);
  const pendingTokenWrites = createPendingTokenWrites(tools);
  const persister = createTokenPersister({
    ...tools,
    ...{ pendingTokenWrites, revocationQueue, changeBus },
    closingSince: () => closingSince,
  });
  const reader = createCredentialReader({
    ...tools,
    credentialCache,
    storeTime,
    applyPending: (found) => persister.applyPending(found),
  });
  const errorHandler = createRefreshErrorHandler({ ...tools, backoff, changeBus });
  const commit = createCommit({
    ...tools,
    revocationQueue,
    changeBus,
    backoff,
    onCommitted: (record) => earlyRenewal.recordUse(record),
  });
  const renewAppToken = createAppTokenRenewal({ ...tools, reader, backoff, changeBus, commit });
  const refreshOnce = createRefreshOnce({
    ...tools,
    ...{ reader, backoff, errorHandler, persister, pendingTokenWrites, changeBus, renewAppToken },
    onRenewed: (renewed) => earlyRenewal.recordRenewal(renewed),
  });
  const renewal = createRenewal({
    ...tools,
    refreshOnce,
    refreshLeases,
    reader,
    credentialCache,
    changeBus,
    isClosing,
  });
  const recovery = createRecovery({ ...tools, reader, renewal });
  const earlyRenewal = createEarlyRenewal({ ...tools, renew: (key) => renewal.renewEarly(key) });
  const removal = createCredentialRemoval({
    ...tools,
    revocationQueue,
    changeBus,
    pendingTokenWrites,
    persister,
  });
  const withExclusiveUse = createWithExclusiveUse({ ...tools, changeBus });
  const withRefreshToken = createWithRefreshToken({
    ...tools,
    ...{ reader, renewal, errorHandler, persister, changeBus, revocationQueue, withExclusiveUse, isClosing },
  });
  const providedListeners = new Set<(token: VaultToken) => void>();
  /** What was given out of a view before: a call costs no more than looking it up. */
  const tokensBySnapshot = new WeakMap<CredentialSnapshot, VaultToken>();

  function record(event: VaultEvent): void {
    if (event.kind === 'refresh')
      lastUsedTracker.recordRenewal(credentialId(event.credential), event.outcome);
    try {
      parts.record(event);
    } catch (error) {
      log('vault_event_lost', { reason: error instanceof Error ? error.name : 'unknown' });
    }
  }

  function recordUse({ record: usedRecord, context }: CredentialSnapshot): void {
    if (!usedRecord) return;
    lastUsedTracker.recordUse(usedRecord.id);
    earlyRenewal.recordUse(usedRecord, context);
  }

  function notifyProvided(token: VaultToken): VaultToken {
    for (const listener of providedListeners) listener(token);
    return token;
  }

  function provideOutcome(outcome: TokenOutcome): TokenOutcome {
    if (outcome.kind === 'token') notifyProvided(outcome.token);
    return outcome;
  }

  function peek(key: CredentialKey): VaultToken | undefined {
    const token = peekToken(key);
    return token && notifyProvided(token);
  }

  function peekToken(key: CredentialKey): VaultToken | undefined {
    const snapshot = credentialCache.getFresh(credentialId(key));
    if (!snapshot) return undefined;
    const previous = tokensBySnapshot.get(snapshot);
    if (previous && clock.now() < previous.usableUntil) {
      recordUse(snapshot);
      return previous;
    }
    const decision = evaluateCredential(snapshot, { now: clock.now() }, timings);
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
      log('vault_store_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      return renewal.withoutStore(key);
    }
    const decision = evaluateCredential(snapshot, { now: clock.now() }, timings);
    if (decision.kind === 'outcome') {
      recordUse(snapshot);
      return decision.outcome;
    }
    const activeBackoff = backoff.current(snapshot.record ?? initialVersion(credentialId(key)));
    if (!activeBackoff) return renewal.renew(key);
    return decision.fallback ? { kind: 'token', token: decision.fallback } : activeBackoff;
  }

  function abortable<T>(work: Promise<T>, signal: Cancellation | undefined): Promise<T> {
    return signal ? rejectOnAbort(work, signal) : work;
  }

  async function close(): Promise<void> {
    closingSince = localClock.now();
    earlyRenewal.close();
    // Who only waits need not be waited for.
    changeBus.wakeAll();
    const pendingWork = Promise.all([renewal.idle(), revocationQueue.idle(), lastUsedTracker.idle()]);
    await withTimeout(localClock, timings.closeTimeoutMs, pendingWork, () => log('vault_close_timeout', {}));
    await refreshLeases.releaseAll();
    persister.close();
    changeBus.close();
    credentialCache.clear();
  }

  return {
    peek,
    async token(key, { signal } = {}) {
      const token = peek(key);
      return token ? { kind: 'token', token } : provideOutcome(await abortable(obtainToken(key), signal));
    },
    recover: async (key, refusedToken, { signal } = {}) =>
      provideOutcome(await abortable(recovery(key, refusedToken), signal)),
    commit,
    disconnect: (key) => removal.disconnect(key),
    remove: (key) => removal.remove(key),
    requireSignIn: createRequireSignIn({ ...tools, changeBus }),
    async list(tenant, principal, serverId) {
      const records = await store.list(tenant, principal, serverId);
      return Promise.all(records.map((credentialRecord) => summarizeCredential(tools, credentialRecord)));
    },
    async find(key) {
      const found = await store.find(key);
      return found && summarizeCredential(tools, found);
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
