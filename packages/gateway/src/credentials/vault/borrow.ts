import {
  type Cancellation,
  type HeldLease,
  type HiddenText,
  abortReason,
  rejectOnAbort,
  withTimeout,
} from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type CredentialClaim, type CredentialKey, credentialId } from '../../ports/index.ts';
import { evaluateCredential } from './decide.ts';
import type { TokenPersister } from './persist.ts';
import type { ChangeBus, CredentialReader, CredentialSnapshot } from './read.ts';
import type { Renewal } from './refresh.ts';
import { type RefreshErrorHandler, toDoubtPatch } from './refreshErrors.ts';
import type { RevocationQueue } from './revoke.ts';
import type { DecryptedTokens } from './tokenPair.ts';
import type {
  BorrowOutcome,
  BorrowResult,
  BorrowedToken,
  ResolvedVaultParts,
  TokenOutcome,
  WithRefreshToken,
} from './vault.ts';

interface WithRefreshTokenParts extends Pick<
  ResolvedVaultParts,
  'store' | 'clock' | 'localClock' | 'random' | 'timings'
> {
  readonly reader: CredentialReader;
  readonly renewal: Pick<Renewal, 'renew'>;
  readonly errorHandler: Pick<RefreshErrorHandler, 'releaseClaim'>;
  readonly persister: TokenPersister;
  readonly changeBus: ChangeBus;
  readonly revocationQueue: Pick<RevocationQueue, 'runInBackground'>;
  readonly withExclusiveUse: WithExclusiveUse;
  readonly isClosing: () => boolean;
}

/** Others' writes make us look again; nobody writes this often. */
const MAX_ROUNDS = 12;

/** A refresh token that is ours alone for a moment. */
interface ClaimedToken {
  readonly snapshot: CredentialSnapshot;
  readonly tokens: DecryptedTokens;
  readonly refreshToken: HiddenText;
  readonly claimed: CredentialClaim;
  readonly claimedAt: number;
  readonly owner: string;
}

type MissingToken = Exclude<TokenOutcome, { kind: 'token' }>;

/**
 * Lets a refresh token be used for something else than a refresh, under the claim that a refresh takes: whoever sends it, nobody else
 * does meanwhile, and none is sent that another has taken the place of.
 */
export function createWithRefreshToken(parts: WithRefreshTokenParts): WithRefreshToken {
  const { store, clock, localClock, random, timings } = parts;
  const {
    reader,
    renewal,
    errorHandler,
    persister,
    changeBus,
    revocationQueue,
    withExclusiveUse,
    isClosing,
  } = parts;

  const busyOutcome = (reason: 'refresh_busy' | 'closing'): MissingToken => ({
    ...{ kind: 'unavailable', reason, retryAfterMs: timings.backoffMs },
  });

  /** Ours, or why it cannot be. */
  async function claimToken(key: CredentialKey, signal: Cancellation): Promise<ClaimedToken | MissingToken> {
    const id = credentialId(key);
    const deadline = localClock.now() + timings.waitMs;
    let isVerified = false;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (isClosing()) return busyOutcome('closing');
      throwIfAborted(signal);
      const snapshot = await reader.readFresh(key);
      const usableToken = findUsableToken(snapshot);
      if ('kind' in usableToken) return usableToken;
      // What this process received and could not store comes first: its predecessor is not sent again.
      if (await persister.flush(id)) continue;
      const { record, tokens, refreshToken } = usableToken;
      const { generation, tokenSeq, rtHash } = record;
      const owner = random.id();
      const claimedAt = localClock.now();
      const claimRequest = { generation, tokenSeq, rtHash, owner, ttlMs: timings.claimMs };
      const claimed = await store.claim(id, claimRequest);
      if (!claimed) {
        if (localClock.now() >= deadline) return busyOutcome('refresh_busy');
        round = 0;
        await changeBus.waitForChange(id, timings.pollMs);
        continue;
      }
      const { rtSuspect, statusAt } = claimed.record;
      if (!claimed.tookOver && (!rtSuspect || isVerified)) {
        return { snapshot, tokens, refreshToken, claimed, claimedAt, owner };
      }
      // Whoever sent it last may have lost the one that followed: a refresh finds out, and only then is it of use to anybody.
      const inDoubtSince = rtSuspect ? statusAt : (record.claimStartedAt ?? clock.now());
      await errorHandler.releaseClaim(claimed, toDoubtPatch({ inDoubtSince }));
      const renewedOutcome = await renewal.renew(key, tokens.accessToken);
      if (renewedOutcome.kind !== 'token') return renewedOutcome;
      isVerified = true;
    }
    return busyOutcome('refresh_busy');
  }

  function findUsableToken(snapshot: CredentialSnapshot) {
    const decision = evaluateCredential(snapshot, { now: clock.now() }, timings);
    if (decision.kind === 'outcome' && decision.outcome.kind !== 'token') return decision.outcome;
    const { record, tokens, bindingStatus } = snapshot;
    const refreshToken = tokens?.refreshToken;
    // The access token may live on: that does not bring the refresh token back.
    if (!record || !tokens || !refreshToken || record.rtHash === null)
      return toReauthOutcome('expired_no_refresh');
    if (record.status !== 'active' || bindingStatus !== 'bound') return toReauthOutcome('rejected');
    return { record: { ...record, rtHash: record.rtHash }, tokens, refreshToken };
  }

  function toBorrowedToken(
    { snapshot, tokens, refreshToken, claimedAt }: ClaimedToken,
    signal: Cancellation,
    onRevealed: () => void,
  ): BorrowedToken {
    return {
      clientId: snapshot.record?.clientId ?? '',
      endpoint: tokens.endpoints?.token ?? '',
      reveal() {
        // Who was stopped since the claim may find another's there by now.
        if (localClock.now() - claimedAt >= timings.sendWithinMs) throw new BorrowExpired();
        // Nothing would be sent, and it would be in doubt for it.
        throwIfAborted(signal);
        onRevealed();
        return refreshToken;
      },
    };
  }

  async function runWork<T>(
    claimedToken: ClaimedToken,
    signal: Cancellation,
    work: (borrowed: BorrowedToken) => Promise<BorrowResult<T>>,
  ): Promise<BorrowResult<T> | 'ended'> {
    const { snapshot, tokens, claimed, owner } = claimedToken;
    let isRevealed = false;
    const releaseClaim = (isInDoubt: boolean) =>
      // It ends by itself where the store does not answer.
      errorHandler
        .releaseClaim(claimed, isInDoubt ? toDoubtPatch({ inDoubtSince: clock.now() }) : {})
        .catch(() => undefined);
    let result: BorrowResult<T>;
    try {
      result = await work(toBorrowedToken(claimedToken, signal, () => (isRevealed = true)));
    } catch (error) {
      await releaseClaim(isRevealed);
      throw error;
    }
    const { rotatedToken, isInDoubt = false } = result;
    if (rotatedToken === undefined || rotatedToken === claimedToken.refreshToken.reveal()) {
      await releaseClaim(isInDoubt);
      return result;
    }
    const { record } = claimed;
    const received = {
      tokens: {
        // Everything else is as it was, its time as well.
        ...{ accessToken: tokens.accessToken, tokenType: tokens.tokenType, refreshToken: rotatedToken },
        expiresInS: record.lifetimeMs === null ? null : record.lifetimeMs / 1_000,
      },
      ...{ sentAt: record.issuedAt, isInDoubt: false },
    };
    const persistRequest = {
      consumedRecord: record,
      previousTokens: tokens,
      context: snapshot.context,
      received,
    };
    const persistResult = await persister.persist(persistRequest, owner);
    if (persistResult.kind === 'pending')
      reader.updateCache({ ...snapshot, record: persistResult.record, tokens: persistResult.tokens });
    else await changeBus.publish(record.id);
    // Whoever signed out meanwhile has nothing more to give.
    return persistResult.kind === 'superseded' ? 'ended' : result;
  }

  async function borrowOnce<T>(
    key: CredentialKey,
    signal: Cancellation,
    work: (borrowed: BorrowedToken) => Promise<BorrowResult<T>>,
  ): Promise<BorrowOutcome<T>> {
    const claimedToken = await claimToken(key, signal);
    if ('kind' in claimedToken) return claimedToken;
    const result = await runWork(claimedToken, signal, work);
    return result === 'ended' ? toReauthOutcome('revoked') : { kind: 'used', value: result.value };
  }

  async function borrowExclusively<T>(
    key: CredentialKey,
    signal: Cancellation,
    work: (borrowed: BorrowedToken) => Promise<BorrowResult<T>>,
  ): Promise<BorrowOutcome<T>> {
    try {
      return await withExclusiveUse(key, signal, () => borrowOnce(key, signal, work));
    } catch (error) {
      if (error instanceof BorrowExpired || error instanceof GatewayError) return busyOutcome('refresh_busy');
      throw error;
    }
  }

  return (key, signal, work) => {
    const outcome = borrowExclusively(key, signal, work);
    // Who waits for it may leave; what was taken is settled before the process ends.
    revocationQueue.runInBackground(outcome);
    return outcome;
  };
}

function throwIfAborted(signal: Cancellation): void {
  if (signal.aborted) throw abortReason(signal);
}

/** Nothing was sent. */
class BorrowExpired extends Error {
  override readonly name = 'BorrowExpired';
}

function toReauthOutcome(reason: 'expired_no_refresh' | 'rejected' | 'revoked'): MissingToken {
  return { kind: 'needs_reauth', reason };
}

interface ExclusiveUseParts extends Pick<ResolvedVaultParts, 'leases' | 'localClock' | 'log' | 'timings'> {
  readonly changeBus: ChangeBus;
}

type WithExclusiveUse = <T>(key: CredentialKey, signal: Cancellation, work: () => Promise<T>) => Promise<T>;

/** One user of a credential at a time, in all processes: first in line here, then by a lease that lives as long as its holder. */
export function createWithExclusiveUse({
  leases,
  localClock,
  log,
  timings,
  changeBus,
}: ExclusiveUseParts): WithExclusiveUse {
  /** The last in line, by credential. */
  const queues = new Map<string, Promise<void>>();

  const busyError = () => new GatewayError('UPSTREAM_AUTH_UNAVAILABLE', { retryAfterMs: timings.backoffMs });

  async function acquire(id: string, deadline: number, signal: Cancellation): Promise<HeldLease | null> {
    for (;;) {
      if (signal.aborted) throw abortReason(signal);
      let lease: HeldLease | null;
      try {
        lease = await leases.acquire(`cred-use:${id}`, 'refresh', timings.leaseMs);
      } catch (error) {
        // One at a time in this process is what can be had; a server that minds answers with a 401.
        log('vault_lease_failed', { reason: error instanceof Error ? error.name : 'unknown' });
        return null;
      }
      if (lease) return lease;
      if (localClock.now() >= deadline) throw busyError();
      await changeBus.waitForChange(`use:${id}`, timings.pollMs);
    }
  }

  async function runWithLease<T>(lease: HeldLease | null, work: () => Promise<T>): Promise<T> {
    let cancel = () => {};
    const sendHeartbeat = () => {
      lease?.extend(timings.leaseMs).catch(() => undefined);
      cancel = localClock.timer(timings.leaseRenewMs, sendHeartbeat);
    };
    if (lease) cancel = localClock.timer(timings.leaseRenewMs, sendHeartbeat);
    try {
      return await work();
    } finally {
      cancel();
      await lease?.release().catch(() => false);
    }
  }

  return async (key, signal, work) => {
    const id = credentialId(key);
    const deadline = localClock.now() + timings.waitMs;
    const previous = queues.get(id) ?? Promise.resolve();
    let finish = () => {};
    const current = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const tail = previous.then(() => current);
    queues.set(id, tail);
    try {
      const waitForPrevious = withTimeout(localClock, timings.waitMs, previous, () => {
        throw busyError();
      });
      await rejectOnAbort(waitForPrevious, signal);
      return await runWithLease(await acquire(id, deadline, signal), work);
    } finally {
      finish();
      // Who gave up may leave somebody behind who is still at it: the line ends with the last of them.
      void tail.then(() => {
        if (queues.get(id) === tail) queues.delete(id);
      });
    }
  };
}
