import {
  type Cancellation,
  type HiddenText,
  KeyedMutex,
  LightCancellation,
  abortReason,
  sleep,
} from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type CredentialKey, credentialId } from '../../ports/index.ts';
import { withLease } from '../../replication/withLease.ts';
import { type RefreshTokenClaim, claimRefreshToken, releaseClaim, toDoubtPatch } from './claim.ts';
import { evaluateCredential, toUnavailable } from './decide.ts';
import type { TokenPersister } from './persist.ts';
import type { ChangeBus, CredentialReader, CredentialSnapshot } from './read.ts';
import type { Renewal } from './refresh.ts';
import type { RevocationQueue } from './revoke.ts';
import type { DecryptedTokens } from './tokenPair.ts';
import {
  type BorrowOutcome,
  type BorrowResult,
  type BorrowedToken,
  type CredentialVault,
  type MissingToken,
  type VaultCore,
  errorName,
} from './vault.ts';

interface WithRefreshTokenParts {
  readonly core: VaultCore;
  readonly reader: CredentialReader;
  readonly renewal: Pick<Renewal, 'renew'>;
  readonly persister: TokenPersister;
  readonly changeBus: ChangeBus;
  readonly revocationQueue: Pick<RevocationQueue, 'runInBackground'>;
  readonly withExclusiveUse: CredentialVault['withExclusiveUse'];
}

/** More rounds than concurrent writes of one credential can cause. */
const MAX_ROUNDS = 12;

interface ClaimedToken {
  readonly snapshot: CredentialSnapshot;
  readonly tokens: DecryptedTokens;
  readonly refreshToken: HiddenText;
  readonly claim: RefreshTokenClaim;
}

type Work<T> = (borrowed: BorrowedToken) => Promise<BorrowResult<T>>;

/**
 * Lends a refresh token for another request than a refresh (ID-JAG), under the same claim as a refresh: only one
 * replica sends it, and never after it was replaced.
 */
export function createWithRefreshToken(parts: WithRefreshTokenParts): CredentialVault['withRefreshToken'] {
  const { core, reader, renewal, persister, changeBus, revocationQueue, withExclusiveUse } = parts;
  const { clock, localClock, random, timings } = core;

  async function claimToken(key: CredentialKey, signal: Cancellation): Promise<ClaimedToken | MissingToken> {
    const id = credentialId(key);
    const deadline = localClock.now() + timings.waitMs;
    let isVerified = false;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (core.closingSince() !== Infinity) return toUnavailable(core, 'closing');
      throwIfAborted(signal);
      const readAt = clock.now();
      const snapshot = await reader.readFresh(key);
      const usableToken = findUsableToken(snapshot);
      if ('kind' in usableToken) return usableToken;
      // Save unsaved tokens of this process first: their predecessor must not be sent again.
      if (await persister.flush(id)) continue;
      const { record, rtHash, tokens, refreshToken } = usableToken;
      const claim = await claimRefreshToken(core, record, rtHash, random.id(), readAt);
      if (!claim) {
        if (localClock.now() >= deadline) return toUnavailable(core, 'refresh_busy');
        round = 0;
        await changeBus.waitForChange(id, timings.pollMs);
        continue;
      }
      if (!claim.isInDoubt || (isVerified && !claim.tookOver))
        return { snapshot, tokens, refreshToken, claim };
      // An earlier request may have consumed the token. A refresh shows whether it did.
      await releaseClaim(core, claim, toDoubtPatch(claim.inDoubtSince));
      const renewedOutcome = await renewal.renew(key, tokens.accessToken);
      if (renewedOutcome.kind !== 'token') return renewedOutcome;
      isVerified = true;
    }
    return toUnavailable(core, 'refresh_busy');
  }

  function findUsableToken(snapshot: CredentialSnapshot) {
    const decision = evaluateCredential(core, snapshot);
    if (decision.kind === 'outcome' && decision.outcome.kind !== 'token') return decision.outcome;
    const { record, tokens, bindingStatus } = snapshot;
    const refreshToken = tokens?.refreshToken;
    // A valid access token does not imply a usable refresh token.
    if (!record || !tokens || !refreshToken || record.rtHash === null)
      return toReauthOutcome('expired_no_refresh');
    if (record.status !== 'active' || bindingStatus !== 'bound') return toReauthOutcome('rejected');
    return { record, rtHash: record.rtHash, tokens, refreshToken };
  }

  async function runWork<T>(
    { snapshot, tokens, refreshToken, claim }: ClaimedToken,
    signal: Cancellation,
    work: Work<T>,
  ): Promise<BorrowOutcome<T>> {
    const { record, claimedAt } = claim;
    let isRevealed = false;
    const borrowed: BorrowedToken = {
      clientId: snapshot.record?.clientId ?? '',
      endpoint: tokens.endpoints?.token ?? '',
      reveal() {
        // After a pause of this process, another replica may have taken over the claim.
        if (localClock.now() - claimedAt >= timings.sendWithinMs) throw new BorrowExpired();
        // An aborted caller sends nothing: the token must not become in doubt.
        throwIfAborted(signal);
        isRevealed = true;
        return refreshToken;
      },
    };
    // If the store fails, the claim expires at its deadline.
    const release = (isInDoubt: boolean) =>
      releaseClaim(core, claim, isInDoubt ? toDoubtPatch(clock.now()) : {}).catch(() => undefined);
    let result: BorrowResult<T>;
    try {
      result = await work(borrowed);
    } catch (error) {
      await release(isRevealed);
      throw error;
    }
    const { value, rotatedToken, isInDoubt = false } = result;
    if (rotatedToken === undefined || rotatedToken === refreshToken.reveal()) {
      await release(isInDoubt);
      return { kind: 'used', value };
    }
    const { accessToken, tokenType } = tokens;
    // Only the refresh token changes: the access token and its lifetime stay.
    const expiresInS = record.lifetimeMs === null ? null : record.lifetimeMs / 1_000;
    const received = {
      tokens: { accessToken, tokenType, refreshToken: rotatedToken, expiresInS },
      ...{ sentAt: record.issuedAt, isInDoubt: false },
    };
    const persistResult = await persister.persist(claim, tokens, snapshot.context, received);
    if (persistResult.kind === 'pending')
      reader.updateCache({ ...snapshot, record: persistResult.record, tokens: persistResult.tokens });
    else await changeBus.publish(record.id);
    // The user signed out during the request: its result must not be used.
    return persistResult.kind === 'superseded' ? toReauthOutcome('revoked') : { kind: 'used', value };
  }

  async function borrow<T>(
    key: CredentialKey,
    signal: Cancellation,
    work: Work<T>,
  ): Promise<BorrowOutcome<T>> {
    try {
      return await withExclusiveUse(key, signal, async () => {
        const claimedToken = await claimToken(key, signal);
        return 'kind' in claimedToken ? claimedToken : runWork(claimedToken, signal, work);
      });
    } catch (error) {
      if (error instanceof BorrowExpired || error instanceof GatewayError)
        return toUnavailable(core, 'refresh_busy');
      throw error;
    }
  }

  return (key, signal, work) => {
    const outcome = borrow(key, signal, work);
    // The caller may leave. Shutdown waits until the claim is settled.
    revocationQueue.runInBackground(outcome);
    return outcome;
  };
}

function throwIfAborted(signal: Cancellation): void {
  if (signal.aborted) throw abortReason(signal);
}

/** The claim may have expired. The token was not revealed. */
class BorrowExpired extends Error {
  override readonly name = 'BorrowExpired';
}

function toReauthOutcome(reason: 'expired_no_refresh' | 'rejected' | 'revoked'): MissingToken {
  return { kind: 'needs_reauth', reason };
}

/**
 * Serializes the use of a credential: a mutex in this process, a lease across replicas. Waits for both together for
 * `waitMs`, then throws `UPSTREAM_AUTH_UNAVAILABLE`.
 */
export function createWithExclusiveUse({
  leases,
  localClock,
  log,
  timings,
}: VaultCore): CredentialVault['withExclusiveUse'] {
  const mutex = new KeyedMutex();
  const createBusyError = () =>
    new GatewayError('UPSTREAM_AUTH_UNAVAILABLE', { retryAfterMs: timings.backoffMs });

  return async (key, signal, work) => {
    throwIfAborted(signal);
    const id = credentialId(key);
    const deadline = localClock.now() + timings.waitMs;
    const waiting = new LightCancellation();
    const onAbort = () => waiting.abort(abortReason(signal));
    signal.addEventListener('abort', onAbort);
    const cancelTimer = localClock.timer(timings.waitMs, () => waiting.abort(createBusyError()), {
      keepAlive: true,
    });
    const stopWaiting = () => {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
    };
    const runWithLease = () => {
      stopWaiting();
      return withLease(
        { leases, clock: localClock },
        {
          ...{ key: `cred-use:${id}`, purpose: 'refresh', ttlMs: timings.leaseMs },
          heartbeat: { intervalMs: timings.leaseRenewMs },
          waitMs: deadline - localClock.now(),
          wait: () => sleep(localClock, timings.pollMs, signal),
          onBusy: createBusyError,
          // Serialization in this process remains. A server that requires more answers 401.
          onUnavailable: async (error) => log('vault_lease_failed', { reason: errorName(error) }),
        },
        work,
      );
    };
    try {
      return await mutex.run(id, runWithLease, waiting);
    } finally {
      stopWaiting();
    }
  };
}
