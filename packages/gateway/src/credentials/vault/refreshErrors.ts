import type { CredentialClaim, CredentialPatch, CredentialRecord } from '../../ports/index.ts';
import type { TokenEndpointResult } from '../oauth/tokenEndpointResult.ts';
import { fallbackOr, retryNow, type RefreshContext, type RefreshStep } from './refreshContext.ts';
import { EARLY_REFUSED } from './vaultToken.ts';
import { isInRotationGrace } from './evaluateCredential.ts';
import type { ChangeBus } from './changeBus.ts';
import { resealTokens } from './sealedTokens.ts';
import { IN_DOUBT, clearedClaim } from './tokenPair.ts';
import type { RefreshBackoff } from './refreshBackoff.ts';
import type { VaultToken } from './vault.ts';
import type { RefreshOutcome, ResolvedVaultParts } from './vaultParts.ts';
import type { CredentialSnapshot } from './credentialSnapshot.ts';

/** A refresh that was sent, or about to be. */
export interface ClaimedRefresh {
  readonly refreshContext: RefreshContext;
  readonly snapshot: CredentialSnapshot;
  readonly claimed: CredentialClaim;
  /** What may still be used if it fails. */
  readonly fallback: VaultToken | undefined;
  readonly isInDoubt: boolean;
  /** When the doubt arose. */
  readonly inDoubtSince: number;
}

export type TokenRequestFailure = Exclude<TokenEndpointResult, { kind: 'tokens' }>;

export interface RefreshErrorHandler {
  /** What follows from an answer without tokens. */
  handleRefreshError(refresh: ClaimedRefresh, result: TokenRequestFailure): Promise<RefreshStep>;
  /** Gives a claim back; null when it is not ours any more. Rejects when the store does not answer. */
  releaseClaim(claimed: CredentialClaim, patch?: CredentialPatch): Promise<CredentialRecord | null>;
}

export interface RefreshErrorHandlerParts extends Pick<
  ResolvedVaultParts,
  'store' | 'keyring' | 'clock' | 'random' | 'log' | 'record' | 'timings'
> {
  readonly backoff: RefreshBackoff;
  readonly changeBus: ChangeBus;
}

export function createRefreshErrorHandler(parts: RefreshErrorHandlerParts): RefreshErrorHandler {
  const { store, keyring, clock, random, log, record: recordEvent, timings, backoff, changeBus } = parts;

  /**
   * By the claim, so that a late loser condemns nothing that somebody else is renewing by now.
   */
  function releaseClaim(
    { record }: CredentialClaim,
    patch: CredentialPatch = {},
  ): Promise<CredentialRecord | null> {
    const { id, generation, rtHash, claimSeq } = record;
    return store.replace(id, { generation, rtHash, claimSeq }, { ...clearedClaim, ...patch });
  }

  /** It ends by itself where the store does not answer. */
  async function tryReleaseClaim(refresh: ClaimedRefresh, patch: CredentialPatch = {}): Promise<void> {
    const doubtPatch = refresh.isInDoubt ? toDoubtPatch(refresh) : {};
    await releaseClaim(refresh.claimed, { ...doubtPatch, ...patch }).catch(() => undefined);
  }

  function recordOutcome({ refreshContext }: ClaimedRefresh, outcome: RefreshOutcome): void {
    recordEvent({ kind: 'refresh', credential: refreshContext.key, outcome });
  }

  function retryLater(): RefreshStep {
    return { kind: 'retry', afterMs: timings.backoffMs * (0.5 + random.uniform() / 2) };
  }

  async function rejectCredential(
    refresh: ClaimedRefresh,
    reason: 'rejected' | 'lost_rotation',
  ): Promise<RefreshStep> {
    const { refreshContext, claimed, fallback } = refresh;
    const patch = { status: 'rejected', reason, statusAt: clock.now() } as const;
    let rejectedRecord: CredentialRecord | null;
    try {
      rejectedRecord = await releaseClaim(claimed, patch);
    } catch {
      // Nobody knows but us: it is not sent again all the time until the store answers.
      const storeUnavailable = {
        kind: 'unavailable',
        reason: 'store',
        retryAfterMs: timings.backoffMs,
      } as const;
      return fallbackOr(fallback, backoff.recordOutcome(claimed.record, storeUnavailable));
    }
    // Another pair is stored, or another is at it: nothing is condemned.
    if (!rejectedRecord) return retryNow;
    recordOutcome(refresh, reason);
    recordEvent({ kind: 'sign_in_needed', credential: refreshContext.key, reason });
    if (reason === 'lost_rotation') log('vault_lost_rotation', { server: refreshContext.key.serverId });
    await changeBus.publish(refreshContext.id);
    return fallbackOr(fallback, { kind: 'needs_reauth', reason, credentialId: refreshContext.id });
  }

  async function handleRejected(refresh: ClaimedRefresh): Promise<RefreshStep> {
    const { refreshContext, fallback, isInDoubt } = refresh;
    if (isInDoubt) return rejectCredential(refresh, 'lost_rotation');
    if (!refreshContext.isEarly || !fallback) return rejectCredential(refresh, 'rejected');
    // Some do not renew a token that still lives. It is asked again when there is nothing left to lose.
    recordOutcome(refresh, 'early_refused');
    await tryReleaseClaim(refresh, { reason: EARLY_REFUSED });
    return fallbackOr(fallback, { kind: 'token', token: fallback });
  }

  async function handleClientRefused(refresh: ClaimedRefresh, error: string): Promise<RefreshStep> {
    const { refreshContext, snapshot, claimed, fallback } = refresh;
    recordOutcome(refresh, 'client_refused');
    if (snapshot.context?.client.source === 'dynamic') {
      await store
        .extendClaim(refreshContext.id, claimed.record.claimSeq, refreshContext.owner, timings.claimMs)
        .catch(() => false);
      // What the old client was given is lost with it.
      if (await snapshot.context.reregister().catch(() => false))
        return rejectCredential(refresh, 'rejected');
    }
    await tryReleaseClaim(refresh);
    log('vault_client_refused', { server: refreshContext.key.serverId, error });
    return fallbackOr(fallback, backoff.recordOutcome(claimed.record, { kind: 'misconfigured', error }));
  }

  async function handleMovedEndpoint(refresh: ClaimedRefresh, status: number): Promise<RefreshStep> {
    const { refreshContext, snapshot, claimed, fallback } = refresh;
    await tryReleaseClaim(refresh);
    recordOutcome(refresh, 'moved');
    const endpoints = refreshContext.hasRediscovered
      ? null
      : await snapshot.context?.rediscover().catch(() => null);
    refreshContext.hasRediscovered = true;
    const { record, tokens } = snapshot;
    if (endpoints && record && tokens && endpoints.token !== tokens.endpoints?.token) {
      const { id, generation, rtHash, tokenSeq } = record;
      const patch = resealTokens(keyring, record, { ...tokens, endpoints: endpoints });
      await store.replace(id, { generation, rtHash, tokenSeq }, patch);
      return retryNow;
    }
    log('vault_token_endpoint_not_found', { server: refreshContext.key.serverId, status });
    return fallbackOr(fallback, backoff.recordUnavailable(claimed.record));
  }

  /** Nothing was consumed. */
  async function handleUnavailable(
    refresh: ClaimedRefresh,
    retryAfterMs: number | undefined,
  ): Promise<RefreshStep> {
    const { refreshContext, claimed, fallback } = refresh;
    await tryReleaseClaim(refresh);
    recordOutcome(refresh, 'unavailable');
    if (retryAfterMs === undefined && !refreshContext.hasRetried && !fallback) {
      refreshContext.hasRetried = true;
      return retryLater();
    }
    return fallbackOr(fallback, backoff.recordUnavailable(claimed.record, retryAfterMs));
  }

  /** It may have been consumed: then the only one that lives was in the answer that is lost. */
  async function handleInDoubt(refresh: ClaimedRefresh): Promise<RefreshStep> {
    const { refreshContext, snapshot, claimed, fallback } = refresh;
    await tryReleaseClaim(refresh, toDoubtPatch(refresh));
    recordOutcome(refresh, 'in_doubt');
    const canRetryNow = isInRotationGrace(snapshot.context, refresh.inDoubtSince, clock.now());
    if (!refreshContext.hasRetried && (!fallback || canRetryNow)) {
      refreshContext.hasRetried = true;
      return retryLater();
    }
    return fallbackOr(fallback, backoff.recordUnavailable(claimed.record));
  }

  return {
    releaseClaim,
    async handleRefreshError(refresh, result) {
      const { refreshContext, claimed, fallback } = refresh;
      switch (result.kind) {
        case 'rejected':
          return handleRejected(refresh);
        case 'client_refused':
          return handleClientRefused(refresh, result.error);
        case 'moved':
          return handleMovedEndpoint(refresh, result.status);
        case 'unavailable':
          return handleUnavailable(refresh, result.retryAfterMs);
        case 'in_doubt':
          return handleInDoubt(refresh);
        case 'user_needed': {
          await tryReleaseClaim(refresh);
          recordOutcome(refresh, 'user_needed');
          const { claims } = result;
          const reauthOutcome = {
            kind: 'needs_reauth',
            reason: 'interaction_required',
            credentialId: refreshContext.id,
            claims,
          } as const;
          return fallbackOr(fallback, backoff.recordOutcome(claimed.record, reauthOutcome));
        }
        case 'misconfigured':
          await tryReleaseClaim(refresh);
          recordOutcome(refresh, 'misconfigured');
          log('vault_misconfigured', { server: refreshContext.key.serverId, error: result.error });
          return fallbackOr(
            fallback,
            backoff.recordOutcome(claimed.record, { kind: 'misconfigured', error: result.error }),
          );
        case 'unintelligible':
          await tryReleaseClaim(refresh);
          recordOutcome(refresh, 'unintelligible');
          return fallbackOr(fallback, backoff.recordUnavailable(claimed.record));
      }
    },
  };
}

/** The next one who looks must know, and since when. */
export function toDoubtPatch({ inDoubtSince }: Pick<ClaimedRefresh, 'inDoubtSince'>): CredentialPatch {
  return { rtSuspect: true, reason: IN_DOUBT, statusAt: inDoubtSince };
}
