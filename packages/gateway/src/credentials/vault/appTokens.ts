import type { HiddenText } from '@behalf/kernel';
import { createDpopKey } from '../oauth/dpop.ts';
import { requestTokens } from '../oauth/tokenEndpoint.ts';
import { skewOf, toVaultToken } from './decide.ts';
import { type Commit, casTokens } from './persist.ts';
import { type ChangeBus, type CredentialReader, type CredentialSnapshot, checkBinding } from './read.ts';
import { type RefreshContext, type RefreshStep, fallbackOr, retryNow } from './refresh.ts';
import { type RefreshBackoff, type TokenRequestFailure, initialVersion } from './refreshErrors.ts';
import { type ReceivedTokens, buildNextPair } from './tokenPair.ts';
import type { AppGrant, ResolvedVaultParts, TokenOutcome, VaultToken } from './vault.ts';

interface AppTokenRenewalParts extends Pick<
  ResolvedVaultParts,
  'store' | 'keyring' | 'clock' | 'random' | 'readError' | 'appGrants' | 'record' | 'log' | 'timings' | 'dpop'
> {
  readonly reader: CredentialReader;
  readonly backoff: RefreshBackoff;
  readonly changeBus: ChangeBus;
  readonly commit: Commit;
}

/** With the key that the token is bound to, where it is. */
interface BoundTokens extends ReceivedTokens {
  readonly dpopKey: HiddenText | undefined;
}

export type RenewAppToken = (
  refreshContext: RefreshContext,
  snapshot: CredentialSnapshot,
  fallback: VaultToken | undefined,
) => Promise<RefreshStep>;

/** A token of our own. Asking twice costs a request and nothing else: the turn is enough, no claim is needed. */
export function createAppTokenRenewal(parts: AppTokenRenewalParts): RenewAppToken {
  const { clock, random, readError, appGrants, record: recordEvent, log, timings, keyring, dpop } = parts;
  const { reader, backoff, changeBus, commit } = parts;

  function toFailure(
    { key, id }: RefreshContext,
    snapshot: CredentialSnapshot,
    error: TokenRequestFailure,
  ): TokenOutcome {
    recordEvent({ kind: 'refresh', credential: key, outcome: error.kind });
    const version = snapshot.record ?? initialVersion(id);
    if (!('error' in error)) {
      return backoff.recordUnavailable(
        version,
        error.kind === 'unavailable' ? error.retryAfterMs : undefined,
      );
    }
    // Nobody can sign in for it: whatever it is, it is the operator's to mend.
    log('vault_misconfigured', { server: key.serverId, error: error.error });
    return backoff.recordOutcome(version, { kind: 'misconfigured', error: error.error });
  }

  async function storeTokens(
    refreshContext: RefreshContext,
    snapshot: CredentialSnapshot,
    grant: AppGrant,
    received: BoundTokens,
  ): Promise<RefreshStep> {
    const { key, id } = refreshContext;
    const { record, tokens } = snapshot;
    recordEvent({ kind: 'refresh', credential: key, outcome: 'ok' });
    backoff.clear(id);
    const isSame = record?.status === 'active' && checkBinding(record, grant.context) === 'bound';
    // Another key is another credential: what is stored beside the old one could not be proven.
    if (!isSame || !tokens || tokens.dpopKey !== received.dpopKey) {
      await commit({
        ...key,
        binding: grant.context.binding,
        endpoints: grant.endpoints,
        tokens: received.tokens,
        sentAt: received.sentAt,
        scopesRequested: grant.scopes,
        dpopKey: received.dpopKey,
        baseGeneration: record?.generation ?? 0,
      });
      return retryNow;
    }
    try {
      const stored = await casTokens(parts, record, tokens, received);
      if (stored.kind !== 'saved') return retryNow;
      await changeBus.publish(id);
      return toTokenStep(stored.record, stored.tokens);
    } catch {
      // Nothing is lost with it: the next one asks again.
      const update = buildNextPair(keyring, record, tokens, received);
      const unsavedRecord = { ...record, ...update.patch };
      reader.updateCache({ ...snapshot, record: unsavedRecord, tokens: update.tokens });
      return toTokenStep(unsavedRecord, update.tokens);
    }
  }

  function toTokenStep(
    ...[record, tokens]: [Parameters<typeof toVaultToken>[0], Parameters<typeof toVaultToken>[1]]
  ): RefreshStep {
    const token = toVaultToken(record, tokens, skewOf(record.lifetimeMs, timings));
    return { kind: 'outcome', outcome: { kind: 'token', token } };
  }

  return async (refreshContext, snapshot, fallback) => {
    const grant = await appGrants?.resolve(refreshContext.key);
    if (!grant) return fallbackOr(fallback, { kind: 'misconfigured', error: 'no_app_grant' });
    const { context, endpoints, scopes } = grant;
    const usesDpop = context.dpop === 'require' || grant.usesDpop;
    const dpopKey = usesDpop ? (snapshot.tokens?.dpopKey ?? createDpopKey(random)) : undefined;
    const result = await requestTokens({
      endpoint: endpoints.token,
      ...{
        issuer: context.binding.issuer,
        client: context.client,
        headers: context.headers,
        fetch: context.fetch,
      },
      form: { ...context.form, grant_type: 'client_credentials', ...(scopes !== '' && { scope: scopes }) },
      ...{ readError, clock, random, timeoutMs: timings.postMs },
      prover: dpopKey && dpop.proverFor(dpopKey),
    });
    if (result.kind !== 'tokens') return fallbackOr(fallback, toFailure(refreshContext, snapshot, result));
    const { tokenType } = result.tokens;
    if (tokenType === 'dpop' ? !dpopKey : context.dpop === 'require') {
      return fallbackOr(
        fallback,
        toFailure(refreshContext, snapshot, { kind: 'misconfigured', error: 'dpop_mismatch' }),
      );
    }
    // RFC 6749, section 4.4.3: there should be none, and one would be a grant that nobody gave.
    const tokens = { ...result.tokens, refreshToken: undefined, isRefreshTokenUnusable: false };
    const boundKey = tokenType === 'dpop' ? dpopKey : undefined;
    return storeTokens(refreshContext, snapshot, grant, {
      tokens,
      sentAt: result.sentAt,
      isInDoubt: false,
      dpopKey: boundKey,
    });
  };
}
