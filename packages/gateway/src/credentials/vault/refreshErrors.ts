import type { CredentialClaim, CredentialPatch, CredentialRecord } from '../../ports/index.ts';
import { createLruMap } from '../lruMap.ts';
import type { TokenEndpointResult } from '../oauth/tokenEndpoint.ts';
import { EARLY_REFUSED, isInRotationGrace } from './decide.ts';
import type { ChangeBus, CredentialSnapshot } from './read.ts';
import { type RefreshContext, type RefreshStep, fallbackOr, retryNow } from './refresh.ts';
import { IN_DOUBT, clearedClaim, resealTokens } from './tokenPair.ts';
import type { RefreshOutcome, ResolvedVaultParts, TokenOutcome, VaultToken } from './vault.ts';

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

interface RefreshErrorHandlerParts extends Pick<
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

type TokenVersion = Pick<CredentialRecord, 'id' | 'generation' | 'tokenSeq'>;

/** What asking an authorization server again would only repeat: of one pair of tokens, in this process. */
export interface RefreshBackoff {
  current(version: TokenVersion): TokenOutcome | undefined;
  /** It is away, or asked for a pause: longer with each time in a row. */
  recordUnavailable(version: TokenVersion, retryAfterMs?: number): TokenOutcome;
  recordOutcome(version: TokenVersion, outcome: TokenOutcome): TokenOutcome;
  clear(id: string): void;
}

/** Of a credential that nobody has stored: what its first token was refused for holds too. */
export function initialVersion(id: string): TokenVersion {
  return { id, generation: 0, tokenSeq: 0 };
}

const MAX_ENTRIES = 10_000;

interface BackoffEntry {
  readonly generation: number;
  readonly tokenSeq: number;
  readonly outcome: TokenOutcome;
  readonly until: number;
  /** How often in a row it was away. */
  readonly failures: number;
}

export function createRefreshBackoff({
  localClock,
  random,
  timings,
}: Pick<ResolvedVaultParts, 'localClock' | 'random' | 'timings'>): RefreshBackoff {
  const entries = createLruMap<BackoffEntry>(MAX_ENTRIES);

  function findEntry({ id, generation, tokenSeq }: TokenVersion): BackoffEntry | undefined {
    const entry = entries.get(id);
    return entry?.generation === generation && entry.tokenSeq === tokenSeq ? entry : undefined;
  }

  function storeEntry(
    { id, generation, tokenSeq }: TokenVersion,
    outcome: TokenOutcome,
    durationMs: number,
    failures: number,
  ): void {
    entries.set(id, { generation, tokenSeq, outcome, until: localClock.now() + durationMs, failures });
  }

  return {
    current(version) {
      const entry = findEntry(version);
      const remainingMs = entry ? entry.until - localClock.now() : 0;
      if (!entry || remainingMs <= 0) return undefined;
      const { outcome } = entry;
      return outcome.kind === 'unavailable' ? { ...outcome, retryAfterMs: remainingMs } : outcome;
    },
    recordUnavailable(version, retryAfterMs = 0) {
      const failures = (findEntry(version)?.failures ?? 0) + 1;
      const doubled = timings.backoffMs * 2 ** Math.min(failures - 1, 16);
      // Half of it by chance: those who failed together do not come back together.
      const backoff = Math.min(doubled, timings.maxBackoffMs) * (0.5 + random.uniform() / 2);
      const durationMs = Math.max(retryAfterMs, backoff);
      const outcome: TokenOutcome = {
        kind: 'unavailable',
        reason: 'authorization_server',
        retryAfterMs: durationMs,
      };
      storeEntry(version, outcome, durationMs, failures);
      return outcome;
    },
    recordOutcome(version, outcome) {
      storeEntry(version, outcome, timings.failureCacheMs, 0);
      return outcome;
    },
    clear: (id) => entries.delete(id),
  };
}
