import type { RenewAppToken } from './appTokens.ts';
import type { CredentialClaim, CredentialRecord } from '../../ports/index.ts';
import { resolveClientAuth } from '../oauth/grantContext.ts';
import type { OAuthClient } from '../oauth/clientAuthentication.ts';
import { type TokenEndpointResult, requestTokens } from '../oauth/tokenEndpoint.ts';
import { fallbackOr, retryNow, toDecisionInput, type RefreshContext, type RefreshStep } from './refresh.ts';
import { evaluateCredential, isInRotationGrace, skewOf, toVaultToken } from './decide.ts';
import type { PendingTokenWrites, PersistResult, TokenPersister } from './persist.ts';
import type { ChangeBus, CredentialReader, CredentialSnapshot } from './read.ts';
import type { ReceivedTokens } from './tokenPair.ts';
import {
  type ClaimedRefresh,
  type RefreshBackoff,
  type RefreshErrorHandler,
  initialVersion,
  toDoubtPatch,
} from './refreshErrors.ts';
import type { ResolvedVaultParts } from './vault.ts';

interface RefreshOnceParts extends Pick<
  ResolvedVaultParts,
  'store' | 'clock' | 'localClock' | 'random' | 'readError' | 'log' | 'record' | 'timings'
> {
  readonly reader: CredentialReader;
  readonly backoff: RefreshBackoff;
  readonly errorHandler: RefreshErrorHandler;
  readonly persister: TokenPersister;
  readonly pendingTokenWrites: PendingTokenWrites;
  readonly changeBus: ChangeBus;
  /** Asks for another token of our own: no refresh token, so nothing can be lost. */
  readonly renewAppToken: RenewAppToken;
  /** Told what was stored. */
  readonly onRenewed: (record: CredentialRecord) => void;
}

/** One attempt to renew, at our turn: look, claim, send, store, tell. Rejects when the store does not answer. */
export type RefreshOnce = (refreshContext: RefreshContext) => Promise<RefreshStep>;

export function createRefreshOnce(parts: RefreshOnceParts): RefreshOnce {
  const { store, clock, localClock, random, readError, log, record: recordEvent, timings } = parts;
  const {
    reader,
    backoff,
    errorHandler,
    persister,
    pendingTokenWrites,
    changeBus,
    renewAppToken,
    onRenewed,
  } = parts;

  async function sendRefresh(
    refresh: ClaimedRefresh,
    claimedAt: number,
  ): Promise<TokenEndpointResult | 'late'> {
    const { snapshot, claimed } = refresh;
    const { issuer, resource } = claimed.record;
    const { context, tokens } = snapshot;
    if (!context || !tokens?.endpoints || !tokens.refreshToken)
      return { kind: 'misconfigured', error: 'grant_incomplete' };
    let client: OAuthClient;
    try {
      client = await resolveClientAuth(context);
    } catch {
      return { kind: 'unavailable' };
    }
    const { resource: _, ...form } = context.form;
    const sendState = { isLate: false };
    const result = await requestTokens({
      endpoint: tokens.endpoints.token,
      ...{ issuer, client, headers: context.headers, fetch: context.fetch },
      form: {
        ...form,
        // As it was sent for the grant, whatever is configured by now.
        ...(resource !== null && { resource }),
        grant_type: 'refresh_token',
        refresh_token: tokens.refreshToken.reveal(),
      },
      ...{ readError, clock, random, timeoutMs: timings.postMs },
      prover: tokens.prover,
      canSend() {
        // Who was stopped since the claim may find another's there by now.
        sendState.isLate = localClock.now() - claimedAt >= timings.sendWithinMs;
        return !sendState.isLate;
      },
    });
    return sendState.isLate ? 'late' : result;
  }

  async function handleTokens(
    { refreshContext, snapshot, claimed }: ClaimedRefresh,
    received: ReceivedTokens,
  ): Promise<RefreshStep> {
    const { tokens: previousTokens, context } = snapshot;
    if (!previousTokens) return retryNow;
    if (received.tokens.isRefreshTokenUnusable)
      log('vault_refresh_token_unusable', { server: refreshContext.key.serverId });
    const persistResult = await persister.persist(
      { consumedRecord: claimed.record, previousTokens, context, received: received },
      refreshContext.owner,
    );
    if (persistResult.kind === 'saved' || persistResult.kind === 'pending')
      return completeRefresh(refreshContext, snapshot, persistResult, 'ok');
    recordEvent({ kind: 'refresh', credential: refreshContext.key, outcome: 'superseded' });
    return retryNow;
  }

  async function completeRefresh(
    refreshContext: RefreshContext,
    snapshot: CredentialSnapshot,
    { kind, record, tokens }: Extract<PersistResult, { kind: 'saved' | 'pending' }>,
    outcome: 'ok' | 'adopted',
  ): Promise<RefreshStep> {
    backoff.clear(refreshContext.id);
    recordEvent({ kind: 'refresh', credential: refreshContext.key, outcome });
    onRenewed(record);
    // Nobody else has it yet.
    if (kind === 'pending') reader.updateCache({ ...snapshot, record, tokens });
    else await changeBus.publish(refreshContext.id);
    // However short it lives: it is the newest there is.
    const token = toVaultToken(record, tokens, skewOf(record.lifetimeMs, timings));
    return { kind: 'outcome', outcome: { kind: 'token', token } };
  }

  /** What a process received and could not store. Null: there is none. */
  async function recoverPendingWrite({
    refreshContext,
    snapshot,
    claimed,
  }: ClaimedRefresh): Promise<RefreshStep | null> {
    if (persister.findPending(claimed.record)) {
      await persister.flush(refreshContext.id);
      return retryNow;
    }
    const pendingWrite = await pendingTokenWrites.find(claimed.record);
    if (!pendingWrite || !snapshot.tokens) return null;
    const { received, sealed } = pendingWrite;
    const persistResult = await persister.persist(
      {
        consumedRecord: claimed.record,
        previousTokens: snapshot.tokens,
        context: snapshot.context,
        received,
      },
      refreshContext.owner,
    );
    if (persistResult.kind === 'pending') return retryNow;
    await pendingTokenWrites.remove(refreshContext.id, sealed).catch(() => undefined);
    if (persistResult.kind !== 'saved') return retryNow;
    log('vault_pending_write_recovered', { server: refreshContext.key.serverId });
    await completeRefresh(refreshContext, snapshot, persistResult, 'adopted');
    // It may have ended meanwhile; then it is renewed as any other.
    return retryNow;
  }

  async function resolveDoubt(refresh: ClaimedRefresh): Promise<RefreshStep | null> {
    const { snapshot, claimed, fallback, inDoubtSince } = refresh;
    let step: RefreshStep | null;
    try {
      step = await recoverPendingWrite(refresh);
    } catch {
      // The successor may lie where we cannot look: sending its predecessor would end them both.
      await errorHandler.releaseClaim(claimed, toDoubtPatch(refresh)).catch(() => null);
      return fallbackOr(fallback, { kind: 'unavailable', reason: 'store', retryAfterMs: timings.backoffMs });
    }
    if (step) return step;
    if (!fallback || isInRotationGrace(snapshot.context, inDoubtSince, clock.now())) return null;
    await errorHandler.releaseClaim(claimed, toDoubtPatch(refresh));
    return fallbackOr(fallback, { kind: 'token', token: fallback });
  }

  async function sendClaimed(refresh: ClaimedRefresh, claimedAt: number): Promise<RefreshStep> {
    if (refresh.isInDoubt) {
      const step = await resolveDoubt(refresh);
      if (step) return step;
    }
    const result = await sendRefresh(refresh, claimedAt);
    if (result === 'late') {
      await errorHandler.releaseClaim(refresh.claimed, refresh.isInDoubt ? toDoubtPatch(refresh) : {});
      return retryNow;
    }
    if (result.kind !== 'tokens') return errorHandler.handleRefreshError(refresh, result);
    return handleTokens(refresh, { ...result, isInDoubt: refresh.isInDoubt });
  }

  return async (refreshContext) => {
    const checkedAt = clock.now();
    const snapshot = await reader.readFresh(refreshContext.key);
    const decision = evaluateCredential(snapshot, toDecisionInput(refreshContext, clock.now()), timings);
    if (decision.kind === 'outcome') return decision;
    // What this process holds comes first: its predecessor is not sent again.
    if (await persister.flush(refreshContext.id)) return retryNow;
    const { record } = snapshot;
    const activeBackoff = backoff.current(record ?? initialVersion(refreshContext.id));
    if (activeBackoff) return fallbackOr(decision.fallback, activeBackoff);
    if (refreshContext.key.kind === 'client_credentials')
      return renewAppToken(refreshContext, snapshot, decision.fallback);
    if (!record || record.rtHash === null) return retryNow;
    const claimedAt = localClock.now();
    const claimed = await claimRecord(refreshContext, record, record.rtHash);
    if (!claimed) return { kind: 'busy' };
    // As it was when it became ours: another may have sent it since we looked, and left it in doubt.
    const { rtSuspect, statusAt } = claimed.record;
    const isInDoubt = claimed.tookOver || rtSuspect;
    const inDoubtSince = rtSuspect ? statusAt : (record.claimStartedAt ?? checkedAt);
    return sendClaimed(
      { refreshContext, snapshot, claimed, fallback: decision.fallback, isInDoubt, inDoubtSince },
      claimedAt,
    );
  };

  function claimRecord(
    { owner }: RefreshContext,
    { id, generation, tokenSeq }: CredentialRecord,
    rtHash: string,
  ): Promise<CredentialClaim | null> {
    return store.claim(id, { generation, rtHash, tokenSeq, owner, ttlMs: timings.claimMs });
  }
}
