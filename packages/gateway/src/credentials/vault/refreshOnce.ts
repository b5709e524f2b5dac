import type { CredentialRecord } from '../../ports/index.ts';
import type { OAuthClient } from '../oauth/clientAuthentication.ts';
import { resolveClientAuth } from '../oauth/grantContext.ts';
import { type TokenEndpointResult, requestTokens } from '../oauth/tokenEndpoint.ts';
import type { RenewAppToken } from './appTokens.ts';
import { claimRefreshToken, preserveDoubt, releaseClaim, toDoubtPatch } from './claim.ts';
import { evaluateCredential, isInRotationGrace, skewOf, toUnavailable, toVaultToken } from './decide.ts';
import type { PendingTokenWrites, PersistResult, TokenPersister } from './persist.ts';
import type { ChangeBus, CredentialReader } from './read.ts';
import {
  type ClaimedRefresh,
  type RefreshBackoff,
  type RefreshContext,
  type RefreshErrorHandler,
  type RefreshStep,
  fallbackOr,
  initialVersion,
  retryNow,
  toTokenRequest,
} from './refreshErrors.ts';
import type { ReceivedTokens } from './tokenPair.ts';
import type { VaultCore } from './vault.ts';

interface RefreshOnceParts {
  readonly core: VaultCore;
  readonly reader: CredentialReader;
  readonly backoff: RefreshBackoff;
  readonly handleRefreshError: RefreshErrorHandler;
  readonly persister: TokenPersister;
  readonly pendingTokenWrites: PendingTokenWrites;
  readonly changeBus: ChangeBus;
  readonly renewAppToken: RenewAppToken;
  readonly onRenewed: (record: CredentialRecord) => void;
}

export type RefreshOnce = (refreshContext: RefreshContext) => Promise<RefreshStep>;

/**
 * One attempt to refresh, under the lease: read, claim, send, persist, publish. Rejects if the store fails before a
 * request was sent.
 */
export function createRefreshOnce(parts: RefreshOnceParts): RefreshOnce {
  const { core, reader, backoff, handleRefreshError, persister, pendingTokenWrites, changeBus } = parts;
  const { clock, localClock, random, readError, log, recordEvent, timings } = core;

  /** `late`: nothing was sent, because the claim could expire during the request. */
  async function sendRefresh({ snapshot, claim }: ClaimedRefresh): Promise<TokenEndpointResult | 'late'> {
    const { issuer, resource } = claim.record;
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
      // From the sealed tokens: the endpoints in the record are not authenticated.
      endpoint: tokens.endpoints.token,
      ...{ issuer, client, headers: context.headers, fetch: context.fetch },
      form: {
        ...form,
        // The resource of the original grant (RFC 8707), even if the configuration changed since.
        ...(resource !== null && { resource }),
        grant_type: 'refresh_token',
        refresh_token: tokens.refreshToken.reveal(),
      },
      ...{ readError, clock, random, timeoutMs: timings.postMs },
      prover: tokens.prover,
      canSend() {
        // After a pause of this process, another replica may have taken over the claim.
        sendState.isLate = localClock.now() - claim.claimedAt >= timings.sendWithinMs;
        return !sendState.isLate;
      },
    });
    return sendState.isLate ? 'late' : result;
  }

  async function handleTokens(refresh: ClaimedRefresh, received: ReceivedTokens): Promise<RefreshStep> {
    const { refreshContext, snapshot, claim } = refresh;
    if (!snapshot.tokens) return retryNow;
    if (received.tokens.isRefreshTokenUnusable)
      log('vault_refresh_token_unusable', { server: refreshContext.key.serverId });
    const persistResult = await persister.persist(claim, snapshot.tokens, snapshot.context, received);
    if (persistResult.kind === 'saved' || persistResult.kind === 'pending')
      return completeRefresh(refresh, persistResult, 'ok');
    recordEvent({ kind: 'refresh', credential: refreshContext.key, outcome: 'superseded' });
    return retryNow;
  }

  async function completeRefresh(
    { refreshContext: { id, key }, snapshot }: ClaimedRefresh,
    { kind, record, tokens }: Extract<PersistResult, { kind: 'saved' | 'pending' }>,
    outcome: 'ok' | 'adopted',
  ): Promise<RefreshStep> {
    backoff.clear(id);
    recordEvent({ kind: 'refresh', credential: key, outcome });
    parts.onRenewed(record);
    // Unsaved tokens exist in this process only.
    if (kind === 'pending') reader.updateCache({ ...snapshot, record, tokens });
    else await changeBus.publish(id);
    // Returned even if it expires within the skew: no newer token exists.
    const token = toVaultToken(record, tokens, skewOf(record.lifetimeMs, timings));
    return { kind: 'outcome', outcome: { kind: 'token', token } };
  }

  /** Saves tokens that this or another process received and could not store. Null if there are none. */
  async function recoverPendingWrite(refresh: ClaimedRefresh): Promise<RefreshStep | null> {
    const { refreshContext, snapshot, claim } = refresh;
    if (persister.findPending(claim.record)) {
      await persister.flush(refreshContext.id);
      return retryNow;
    }
    const pendingWrite = await pendingTokenWrites.find(claim.record);
    if (!pendingWrite || !snapshot.tokens) return null;
    const { received, sealed } = pendingWrite;
    const persistResult = await persister.persist(claim, snapshot.tokens, snapshot.context, received);
    if (persistResult.kind === 'pending') return retryNow;
    await pendingTokenWrites.remove(refreshContext.id, sealed).catch(() => undefined);
    if (persistResult.kind !== 'saved') return retryNow;
    log('vault_pending_write_recovered', { server: refreshContext.key.serverId });
    await completeRefresh(refresh, persistResult, 'adopted');
    // The recovered token may have expired: the next step decides.
    return retryNow;
  }

  /** Before a refresh token in doubt is sent: null if it may be sent. */
  async function resolveDoubt(refresh: ClaimedRefresh): Promise<RefreshStep | null> {
    const { snapshot, claim, fallback } = refresh;
    const doubtPatch = toDoubtPatch(claim.inDoubtSince);
    let step: RefreshStep | null;
    try {
      step = await recoverPendingWrite(refresh);
    } catch {
      // `pendingWrites` does not answer and may hold the successor. Sending the old refresh token would revoke both.
      await releaseClaim(core, claim, doubtPatch).catch(() => null);
      return fallbackOr(fallback, toUnavailable(core, 'store'));
    }
    if (step) return step;
    if (!fallback || isInRotationGrace(snapshot.context, claim.inDoubtSince, clock.now())) return null;
    await releaseClaim(core, claim, doubtPatch);
    return fallbackOr(fallback, { kind: 'token', token: fallback });
  }

  async function sendClaimed(refresh: ClaimedRefresh): Promise<RefreshStep> {
    const { claim } = refresh;
    if (claim.isInDoubt) {
      const step = await resolveDoubt(refresh);
      if (step) return step;
    }
    const result = await sendRefresh(refresh);
    if (result === 'late') {
      await releaseClaim(core, claim, preserveDoubt(claim));
      return retryNow;
    }
    if (result.kind !== 'tokens') return handleRefreshError(refresh, result);
    return handleTokens(refresh, { ...result, isInDoubt: claim.isInDoubt });
  }

  return async (refreshContext) => {
    const { key, id, owner } = refreshContext;
    const readAt = clock.now();
    const snapshot = await reader.readFresh(key);
    const decision = evaluateCredential(core, snapshot, toTokenRequest(refreshContext));
    if (decision.kind === 'outcome') return decision;
    // Save unsaved tokens of this process first: their predecessor must not be sent again.
    if (await persister.flush(id)) return retryNow;
    const { record } = snapshot;
    const { fallback } = decision;
    const activeBackoff = backoff.current(record ?? initialVersion(id));
    if (activeBackoff) return fallbackOr(fallback, activeBackoff);
    if (key.kind === 'client_credentials') return parts.renewAppToken(refreshContext, snapshot, fallback);
    if (!record || record.rtHash === null) return retryNow;
    const claim = await claimRefreshToken(core, record, record.rtHash, owner, readAt);
    if (!claim) return { kind: 'busy' };
    return sendClaimed({ refreshContext, snapshot, claim, fallback });
  };
}
