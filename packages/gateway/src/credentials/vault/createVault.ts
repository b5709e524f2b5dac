import { rejectOnAbort, withTimeout, type Cancellation } from '@behalf/kernel';
import { credentialId, type CredentialKey } from '../../ports/index.ts';
import { createDpop } from '../dpop/dpop.ts';
import { createAppTokenRenewal } from './appTokenRenewal.ts';
import { createRefreshOnce } from './refreshOnce.ts';
import { createCommit } from './commit.ts';
import { createCredentialRemoval } from './credentialRemoval.ts';
import { createRevocationQueue } from './revocationQueue.ts';
import { createEarlyRenewal } from './earlyRenewal.ts';
import { createWithExclusiveUse } from './exclusiveUse.ts';
import { evaluateCredential } from './evaluateCredential.ts';
import { createTokenPersister } from './persistTokens.ts';
import { createWithRefreshToken } from './withRefreshToken.ts';
import { createChangeBus } from './changeBus.ts';
import { createPendingTokenWrites } from './pendingTokenWrites.ts';
import { createCredentialReader } from './credentialReader.ts';
import { createRecovery } from './recovery.ts';
import { createRequireSignIn } from './requireSignIn.ts';
import { createRefreshErrorHandler } from './refreshErrors.ts';
import { createRenewal } from './renewal.ts';
import { createRefreshBackoff, initialVersion } from './refreshBackoff.ts';
import { createCredentialCache } from './credentialCache.ts';
import { createStoreTime } from './storeTime.ts';
import { summarizeCredential } from './summary.ts';
import { checkTimings, vaultTimings } from './timings.ts';
import { createRefreshLeases } from './refreshLeases.ts';
import { createLastUsedTracker } from './lastUsedTracker.ts';
import type { CredentialVault, VaultToken, TokenOutcome } from './vault.ts';
import type { VaultEvent, VaultParts, ResolvedVaultParts } from './vaultParts.ts';
import type { CredentialSnapshot } from './credentialSnapshot.ts';

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
