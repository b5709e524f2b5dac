import { LruMap } from '@behalf/kernel';
import type { CredentialKey, CredentialPatch, CredentialRecord } from '../../ports/index.ts';
import type { TokenEndpointResult } from '../oauth/tokenEndpoint.ts';
import { type RefreshTokenClaim, preserveDoubt, releaseClaim, toDoubtPatch } from './claim.ts';
import { EARLY_REFUSED, isInRotationGrace, toUnavailable } from './decide.ts';
import type { ChangeBus, CredentialSnapshot } from './read.ts';
import { resealTokens } from './tokenPair.ts';
import type { MissingToken, RefreshOutcome, TokenOutcome, VaultCore, VaultToken } from './vault.ts';

/** One refresh of one credential, over all of its steps. */
export interface RefreshContext {
  readonly key: CredentialKey;
  /** The id of the credential. */
  readonly id: string;
  /** The owner of the claims of this refresh; random. */
  readonly owner: string;
  /** The access token that the server answered with 401. */
  readonly refusedToken: string | undefined;
  /** True for a refresh ahead of time, which no caller waits for. */
  readonly isEarly: boolean;
  hasRetried: boolean;
  hasRediscovered: boolean;
}

export type RefreshStep =
  | { readonly kind: 'outcome'; readonly outcome: TokenOutcome }
  /** Read the record again after this time or after a change notification. */
  | { readonly kind: 'retry'; readonly afterMs: number }
  /** Another caller holds the lease or the claim. */
  | { readonly kind: 'busy' };

export const retryNow: RefreshStep = { kind: 'retry', afterMs: 0 };

/** A retry finishes the refresh even if the old token is still usable. */
export function toTokenRequest({ refusedToken, isEarly, hasRetried }: RefreshContext) {
  return { refusedToken, isEarly: isEarly || hasRetried };
}

/** Prefers a token that is still valid to a failure. */
export function fallbackOr(fallback: VaultToken | undefined, outcome: TokenOutcome): RefreshStep {
  return { kind: 'outcome', outcome: fallback ? { kind: 'token', token: fallback } : outcome };
}

/** A refresh that holds the claim. */
export interface ClaimedRefresh {
  readonly refreshContext: RefreshContext;
  readonly snapshot: CredentialSnapshot;
  readonly claim: RefreshTokenClaim;
  /** The current token, if it may still be used when the refresh fails. */
  readonly fallback: VaultToken | undefined;
}

export type TokenRequestFailure = Exclude<TokenEndpointResult, { kind: 'tokens' }>;

export type RefreshErrorHandler = ReturnType<typeof createRefreshErrorHandler>;

/** Maps a token response without tokens to the next step of the refresh. */
export function createRefreshErrorHandler(core: VaultCore, backoff: RefreshBackoff, changeBus: ChangeBus) {
  const { store, keyring, clock, random, log, recordEvent, timings } = core;

  /** Records the outcome and releases the claim. If the store fails, the claim expires at its deadline. */
  async function recordAndRelease(
    { refreshContext: { key }, claim }: ClaimedRefresh,
    outcome: RefreshOutcome,
    patch: CredentialPatch = {},
  ): Promise<void> {
    recordEvent({ kind: 'refresh', credential: key, outcome });
    await releaseClaim(core, claim, { ...preserveDoubt(claim), ...patch }).catch(() => undefined);
  }

  /** Retries once per refresh, after a random part of the backoff. A second failure increases the backoff for callers. */
  function retryOnce(
    { refreshContext, claim, fallback }: ClaimedRefresh,
    canRetry: boolean,
    retryAfterMs?: number,
  ): RefreshStep {
    if (canRetry && !refreshContext.hasRetried) {
      refreshContext.hasRetried = true;
      return { kind: 'retry', afterMs: timings.backoffMs * (0.5 + random.uniform() / 2) };
    }
    return fallbackOr(fallback, backoff.recordUnavailable(claim.record, retryAfterMs));
  }

  /** Marks the record: the user must sign in again. */
  async function rejectCredential(
    { refreshContext: { id, key }, claim, fallback }: ClaimedRefresh,
    reason: 'rejected' | 'lost_rotation',
  ): Promise<RefreshStep> {
    let rejectedRecord: CredentialRecord | null;
    try {
      rejectedRecord = await releaseClaim(core, claim, { status: 'rejected', reason, statusAt: clock.now() });
    } catch {
      // The mark is not stored. The backoff prevents repeated requests until the store answers.
      return fallbackOr(fallback, backoff.recordOutcome(claim.record, toUnavailable(core, 'store')));
    }
    // Another replica stored new tokens or is refreshing: the rejection concerns old tokens only.
    if (!rejectedRecord) return retryNow;
    recordEvent({ kind: 'refresh', credential: key, outcome: reason });
    recordEvent({ kind: 'sign_in_needed', credential: key, reason });
    if (reason === 'lost_rotation') log('vault_lost_rotation', { server: key.serverId });
    await changeBus.publish(id);
    return fallbackOr(fallback, { kind: 'needs_reauth', reason, credentialId: id });
  }

  /** `invalid_grant` (RFC 6749, section 5.2). */
  async function handleRejected(refresh: ClaimedRefresh): Promise<RefreshStep> {
    const { refreshContext, claim, fallback } = refresh;
    if (claim.isInDoubt) return rejectCredential(refresh, 'lost_rotation');
    if (!refreshContext.isEarly || !fallback) return rejectCredential(refresh, 'rejected');
    // Some authorization servers refuse a refresh before the access token expires. The vault retries after the expiry.
    await recordAndRelease(refresh, 'early_refused', { reason: EARLY_REFUSED });
    return fallbackOr(fallback, { kind: 'token', token: fallback });
  }

  /** `invalid_client`, `unauthorized_client`. A dynamically registered client is registered again. */
  async function handleClientRefused(refresh: ClaimedRefresh, error: string): Promise<RefreshStep> {
    const { refreshContext, snapshot, claim, fallback } = refresh;
    if (snapshot.context?.client.source === 'dynamic') {
      await store
        .extendClaim(refreshContext.id, claim.record.claimSeq, refreshContext.owner, timings.claimMs)
        .catch(() => false);
      // The tokens were issued to the old client and are lost with it.
      if (await snapshot.context.reregister().catch(() => false)) {
        recordEvent({ kind: 'refresh', credential: refreshContext.key, outcome: 'client_refused' });
        return rejectCredential(refresh, 'rejected');
      }
    }
    await recordAndRelease(refresh, 'client_refused');
    log('vault_client_refused', { server: refreshContext.key.serverId, error });
    return fallbackOr(fallback, backoff.recordOutcome(claim.record, { kind: 'misconfigured', error }));
  }

  /** 404 or 405: the token endpoint may have moved. Reads the metadata again, once per refresh. */
  async function handleMovedEndpoint(refresh: ClaimedRefresh, status: number): Promise<RefreshStep> {
    const { refreshContext, snapshot, claim, fallback } = refresh;
    await recordAndRelease(refresh, 'moved');
    const endpoints = refreshContext.hasRediscovered
      ? null
      : await snapshot.context?.rediscover().catch(() => null);
    refreshContext.hasRediscovered = true;
    const { record, tokens } = snapshot;
    if (endpoints && record && tokens && endpoints.token !== tokens.endpoints?.token) {
      const { id, generation, rtHash, tokenSeq } = record;
      const patch = resealTokens(keyring, record, { ...tokens, endpoints });
      await store.replace(id, { generation, rtHash, tokenSeq }, patch);
      return retryNow;
    }
    log('vault_token_endpoint_not_found', { server: refreshContext.key.serverId, status });
    return fallbackOr(fallback, backoff.recordUnavailable(claim.record));
  }

  /** The response is lost. It may have contained the only valid refresh token (RFC 9700, section 4.14.2). */
  async function handleInDoubt(refresh: ClaimedRefresh): Promise<RefreshStep> {
    const { inDoubtSince } = refresh.claim;
    await recordAndRelease(refresh, 'in_doubt', toDoubtPatch(inDoubtSince));
    const isInGrace = isInRotationGrace(refresh.snapshot.context, inDoubtSince, clock.now());
    return retryOnce(refresh, !refresh.fallback || isInGrace);
  }

  return async (refresh: ClaimedRefresh, result: TokenRequestFailure): Promise<RefreshStep> => {
    const { refreshContext, claim, fallback } = refresh;
    /** Another request would have the same outcome, so callers receive this one from memory for `failureCacheMs`. */
    const remember = (outcome: MissingToken) =>
      fallbackOr(fallback, backoff.recordOutcome(claim.record, outcome));
    switch (result.kind) {
      case 'rejected':
        return handleRejected(refresh);
      case 'client_refused':
        return handleClientRefused(refresh, result.error);
      case 'moved':
        return handleMovedEndpoint(refresh, result.status);
      case 'in_doubt':
        return handleInDoubt(refresh);
      case 'unavailable':
        // The refresh token was not consumed.
        await recordAndRelease(refresh, 'unavailable');
        return retryOnce(refresh, result.retryAfterMs === undefined && !fallback, result.retryAfterMs);
      case 'user_needed': {
        await recordAndRelease(refresh, 'user_needed');
        const { claims } = result;
        const credentialId = refreshContext.id;
        return remember({ kind: 'needs_reauth', reason: 'interaction_required', credentialId, claims });
      }
      case 'misconfigured':
        await recordAndRelease(refresh, 'misconfigured');
        log('vault_misconfigured', { server: refreshContext.key.serverId, error: result.error });
        return remember({ kind: 'misconfigured', error: result.error });
      case 'unintelligible':
        await recordAndRelease(refresh, 'unintelligible');
        return fallbackOr(fallback, backoff.recordUnavailable(claim.record));
    }
  };
}

type TokenVersion = Pick<CredentialRecord, 'id' | 'generation' | 'tokenSeq'>;

/** The version of a credential without a record. */
export function initialVersion(id: string): TokenVersion {
  return { id, generation: 0, tokenSeq: 0 };
}

const MAX_ENTRIES = 10_000;

interface BackoffEntry {
  readonly generation: number;
  readonly tokenSeq: number;
  readonly outcome: TokenOutcome;
  readonly until: number;
  /** Consecutive failures of the authorization server. */
  readonly failures: number;
}

export type RefreshBackoff = ReturnType<typeof createRefreshBackoff>;

/** Failed refreshes per credential, in this process. An entry applies to one version of the tokens only. */
export function createRefreshBackoff({ localClock, random, timings }: VaultCore) {
  const entries = new LruMap<string, BackoffEntry>(MAX_ENTRIES);

  function findEntry({ id, generation, tokenSeq }: TokenVersion): BackoffEntry | undefined {
    const entry = entries.get(id);
    return entry?.generation === generation && entry.tokenSeq === tokenSeq ? entry : undefined;
  }

  function storeEntry(
    { id, generation, tokenSeq }: TokenVersion,
    outcome: TokenOutcome,
    durationMs: number,
    failures: number,
  ): TokenOutcome {
    entries.set(id, { generation, tokenSeq, outcome, until: localClock.now() + durationMs, failures });
    return outcome;
  }

  return {
    current(version: TokenVersion): TokenOutcome | undefined {
      const entry = findEntry(version);
      const remainingMs = entry ? entry.until - localClock.now() : 0;
      if (!entry || remainingMs <= 0) return undefined;
      const { outcome } = entry;
      return outcome.kind === 'unavailable' ? { ...outcome, retryAfterMs: remainingMs } : outcome;
    },
    /** Exponential backoff; at least `retryAfterMs`, the server's `Retry-After`. */
    recordUnavailable(version: TokenVersion, retryAfterMs = 0): TokenOutcome {
      const failures = (findEntry(version)?.failures ?? 0) + 1;
      const doubled = timings.backoffMs * 2 ** Math.min(failures - 1, 16);
      // Jitter: credentials that failed together must not retry together.
      const backoffMs = Math.min(doubled, timings.maxBackoffMs) * (0.5 + random.uniform() / 2);
      const durationMs = Math.max(retryAfterMs, backoffMs);
      const outcome = {
        kind: 'unavailable',
        reason: 'authorization_server',
        retryAfterMs: durationMs,
      } as const;
      return storeEntry(version, outcome, durationMs, failures);
    },
    /** Returns this outcome for `failureCacheMs` without another request. */
    recordOutcome: (version: TokenVersion, outcome: TokenOutcome): TokenOutcome =>
      storeEntry(version, outcome, timings.failureCacheMs, 0),
    clear: (id: string) => entries.delete(id),
  };
}
