import type { HiddenText } from '@behalf/kernel';
import { createDpopKey } from '../oauth/dpop.ts';
import { requestTokens } from '../oauth/tokenEndpoint.ts';
import type { Commit } from './commit.ts';
import { skewOf, toVaultToken } from './decide.ts';
import { casTokens } from './persist.ts';
import { type ChangeBus, type CredentialReader, type CredentialSnapshot, checkBinding } from './read.ts';
import {
  type RefreshBackoff,
  type RefreshContext,
  type RefreshStep,
  type TokenRequestFailure,
  fallbackOr,
  initialVersion,
  retryNow,
} from './refreshErrors.ts';
import { type ReceivedTokens, buildNextPair } from './tokenPair.ts';
import type { AppGrant, TokenOutcome, VaultCore, VaultToken } from './vault.ts';

export type RenewAppToken = ReturnType<typeof createAppTokenRenewal>;

/**
 * Requests `client_credentials` tokens (RFC 6749, section 4.4). A duplicate request costs a request and loses no
 * token: the lease suffices, no claim is needed.
 */
export function createAppTokenRenewal(
  core: VaultCore,
  reader: CredentialReader,
  backoff: RefreshBackoff,
  changeBus: ChangeBus,
  commit: Commit,
) {
  const { clock, random, readError, appGrants, recordEvent, log, timings, keyring, dpop } = core;

  function toFailure(
    { key, id }: RefreshContext,
    { record }: CredentialSnapshot,
    failure: TokenRequestFailure,
  ): TokenOutcome {
    recordEvent({ kind: 'refresh', credential: key, outcome: failure.kind });
    const version = record ?? initialVersion(id);
    if (!('error' in failure))
      return backoff.recordUnavailable(
        version,
        failure.kind === 'unavailable' ? failure.retryAfterMs : undefined,
      );
    // No user can sign in for it: every OAuth error is for the operator.
    const { error } = failure;
    log('vault_misconfigured', { server: key.serverId, error });
    return backoff.recordOutcome(version, { kind: 'misconfigured', error });
  }

  async function storeTokens(
    { key, id }: RefreshContext,
    snapshot: CredentialSnapshot,
    { context, endpoints, scopes }: AppGrant,
    received: ReceivedTokens,
    dpopKey: HiddenText | undefined,
  ): Promise<RefreshStep> {
    const { record, tokens } = snapshot;
    recordEvent({ kind: 'refresh', credential: key, outcome: 'ok' });
    backoff.clear(id);
    const isSame = record?.status === 'active' && checkBinding(record, context) === 'bound';
    // A token bound to another key starts a new generation, which replaces the stored key.
    if (!isSame || !tokens || tokens.dpopKey !== dpopKey) {
      await commit({
        ...key,
        ...{ binding: context.binding, endpoints, dpopKey },
        tokens: received.tokens,
        sentAt: received.sentAt,
        scopesRequested: scopes,
        baseGeneration: record?.generation ?? 0,
      });
      return retryNow;
    }
    let next: Pick<CredentialSnapshot, 'record' | 'tokens'> & {
      record: typeof record;
      tokens: typeof tokens;
    };
    try {
      const stored = await casTokens(core, record, tokens, received);
      if (stored.kind !== 'saved') return retryNow;
      await changeBus.publish(id);
      next = stored;
    } catch {
      // The store fails: use the token in this process. Another process requests its own.
      const update = buildNextPair(keyring, record, tokens, received);
      next = { record: { ...record, ...update.patch }, tokens: update.tokens };
      reader.updateCache({ ...snapshot, ...next });
    }
    const token = toVaultToken(next.record, next.tokens, skewOf(next.record.lifetimeMs, timings));
    return { kind: 'outcome', outcome: { kind: 'token', token } };
  }

  return async (
    refreshContext: RefreshContext,
    snapshot: CredentialSnapshot,
    fallback: VaultToken | undefined,
  ): Promise<RefreshStep> => {
    const grant = await appGrants?.resolve(refreshContext.key);
    if (!grant) return fallbackOr(fallback, { kind: 'misconfigured', error: 'no_app_grant' });
    const { context, endpoints, scopes } = grant;
    const { client, headers, fetch } = context;
    const usesDpop = context.dpop === 'require' || grant.usesDpop;
    const dpopKey = usesDpop ? (snapshot.tokens?.dpopKey ?? createDpopKey(random)) : undefined;
    const result = await requestTokens({
      endpoint: endpoints.token,
      ...{ issuer: context.binding.issuer, client, headers, fetch },
      form: { ...context.form, grant_type: 'client_credentials', ...(scopes !== '' && { scope: scopes }) },
      ...{ readError, clock, random, timeoutMs: timings.postMs },
      prover: dpopKey && dpop.proverFor(dpopKey),
    });
    if (result.kind !== 'tokens') return fallbackOr(fallback, toFailure(refreshContext, snapshot, result));
    const { tokenType } = result.tokens;
    if (tokenType === 'dpop' ? !dpopKey : context.dpop === 'require') {
      const mismatch = { kind: 'misconfigured', error: 'dpop_mismatch' } as const;
      return fallbackOr(fallback, toFailure(refreshContext, snapshot, mismatch));
    }
    // RFC 6749, section 4.4.3: the response should not contain a refresh token.
    const tokens = { ...result.tokens, refreshToken: undefined, isRefreshTokenUnusable: false };
    const received = { tokens, sentAt: result.sentAt, isInDoubt: false };
    return storeTokens(refreshContext, snapshot, grant, received, tokenType === 'dpop' ? dpopKey : undefined);
  };
}
