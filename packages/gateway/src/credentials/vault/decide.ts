import { createHash } from 'node:crypto';
import type { CredentialRecord } from '../../ports/index.ts';
import { type SignInReason, signInReasons } from '../signInRequired.ts';
import type { VaultTimings } from './createVault.ts';
import type { CredentialSnapshot } from './read.ts';
import type { DecryptedTokens } from './tokenPair.ts';
import type { MissingToken, TokenOutcome, VaultCore, VaultToken } from './vault.ts';

interface TokenRequest {
  /** The access token that the server answered with 401. */
  readonly refusedToken?: string | undefined;
  /** Refresh already if the token is due for early renewal. */
  readonly isEarly?: boolean | undefined;
}

/** `renew`: a refresh is necessary. `fallback` may be used if the refresh fails. */
type CredentialDecision =
  | { readonly kind: 'outcome'; readonly outcome: TokenOutcome }
  | { readonly kind: 'renew'; readonly fallback: VaultToken | undefined };

/** Decides whether a credential is usable, needs a refresh, or needs a sign-in. Sends and stores nothing. */
export function evaluateCredential(
  { clock, timings }: Pick<VaultCore, 'clock' | 'timings'>,
  snapshot: CredentialSnapshot,
  { refusedToken, isEarly = false }: TokenRequest = {},
): CredentialDecision {
  const { key, record, tokens, bindingStatus } = snapshot;
  const now = clock.now();
  const isAppCredential = key.kind === 'client_credentials';
  // No user signs in for a client_credentials token: the vault requests a new one.
  const reauthOrRenew = (reason: SignInReason): CredentialDecision =>
    isAppCredential
      ? { kind: 'renew', fallback: undefined }
      : decideOutcome({ kind: 'needs_reauth', reason, credentialId: record?.id });

  if (!record) return reauthOrRenew('absent');
  if (record.status === 'revoked' || record.sealed === null) return reauthOrRenew('revoked');
  if (bindingStatus === 'unbound' || record.status === 'unbound') return reauthOrRenew('unbound');
  if (!tokens || record.status === 'unreadable') return reauthOrRenew('unreadable');
  // A DPoP-bound token without its key must not be sent as a bearer token.
  if (tokens.tokenType === 'dpop' && !tokens.prover)
    return decideOutcome({ kind: 'misconfigured', error: 'token_type_unsupported' });

  // With `dpop: require`, reject bearer tokens: a stolen copy would be usable.
  if (tokens.tokenType !== 'dpop' && snapshot.context?.dpop === 'require' && record.kind !== 'static') {
    return reauthOrRenew('unbound');
  }

  const isRefused = refusedToken === tokens.accessToken;
  const tokenUntilExpiry = toVaultToken(record, tokens, 0);
  const fallback = !isRefused && now < tokenUntilExpiry.usableUntil ? tokenUntilExpiry : undefined;
  if (record.kind === 'static')
    return fallback
      ? decideToken(fallback)
      : reauthOrRenew(isRefused ? 'static_rejected' : 'expired_no_refresh');

  const canRefresh = isAppCredential || record.rtHash !== null;
  if (!canRefresh || record.status === 'rejected' || bindingStatus === 'old_client') {
    const reason =
      record.status === 'rejected'
        ? toSignInReason(record.reason)
        : canRefresh
          ? 'rejected'
          : 'expired_no_refresh';
    return fallback ? decideToken(fallback) : reauthOrRenew(reason);
  }
  // A refresh token in doubt is sent again only if the authorization server is known to accept a replaced one for a
  // while, or if the access token has expired. Otherwise reuse detection could revoke the grant (RFC 9700, 4.14.2).
  if (record.rtSuspect && fallback) {
    return isEarly && isInRotationGrace(snapshot.context, record.statusAt, now)
      ? { kind: 'renew', fallback }
      : decideToken(fallback);
  }
  const token = toVaultToken(record, tokens, skewOf(record.lifetimeMs, timings));
  const isUsable = !isRefused && now < token.usableUntil;
  if (isUsable && !(isEarly && now >= earlyRenewalAt(record, timings))) return decideToken(token);
  return { kind: 'renew', fallback };
}

/** True if the authorization server is known to accept a refresh token that it replaced at `inDoubtSince`. */
export function isInRotationGrace(
  context: CredentialSnapshot['context'],
  inDoubtSince: number,
  now: number,
): boolean {
  return now - inDoubtSince < (context?.profile.rotationGraceMs ?? 0);
}

/** A transient failure that the caller may retry after the base backoff. */
export function toUnavailable(
  { timings }: Pick<VaultCore, 'timings'>,
  reason: Extract<MissingToken, { kind: 'unavailable' }>['reason'],
): MissingToken {
  return { kind: 'unavailable', reason, retryAfterMs: timings.backoffMs };
}

function decideToken(token: VaultToken): CredentialDecision {
  return decideOutcome({ kind: 'token', token });
}

function decideOutcome(outcome: TokenOutcome): CredentialDecision {
  return { kind: 'outcome', outcome };
}

function toSignInReason(reason: string | null): SignInReason {
  return signInReasons.find((candidate) => candidate === reason) ?? 'rejected';
}

export function skewOf(lifetimeMs: number | null, { maxSkewMs }: VaultTimings): number {
  return lifetimeMs === null ? 0 : Math.min(maxSkewMs, lifetimeMs / 10);
}

/** `skewMs`: how long before expiry the token stops being usable. 0 if there is no way to refresh it. */
export function toVaultToken(record: CredentialRecord, tokens: DecryptedTokens, skewMs: number): VaultToken {
  const { tokenExpiresAt } = record;
  return Object.freeze({
    id: record.id,
    generation: record.generation,
    tokenSeq: record.tokenSeq,
    accessToken: tokens.accessToken,
    canonicalUrl: record.canonicalUrl,
    usableUntil: tokenExpiresAt === null ? Infinity : tokenExpiresAt - skewMs,
    expiresAt: tokenExpiresAt,
    scopes: record.scopesGranted,
    scopesRequested: record.scopesRequested,
    idToken: tokens.idToken,
    isRenewable: record.status === 'active' && record.rtHash !== null,
    prover: tokens.tokenType === 'dpop' ? tokens.prover : undefined,
  });
}

/** Early renewal is due at 80 % of the lifetime, plus up to 12 % that depend on the credential. */
const EARLY_RENEWAL_START = 0.8;
const EARLY_RENEWAL_SPREAD = 0.12;

/**
 * When a token is renewed before a caller has to wait for it. The time is the same on all replicas and differs
 * between credentials, so that simultaneous sign-ins do not lead to simultaneous refreshes. Infinity: never.
 */
export function earlyRenewalAt(record: CredentialRecord, { minEarlyLifetimeMs }: VaultTimings): number {
  const { id, issuedAt, lifetimeMs, rtHash, status, reason } = record;
  const isNeverEarly = status !== 'active' || rtHash === null || reason === EARLY_REFUSED;
  if (isNeverEarly || lifetimeMs === null || lifetimeMs < minEarlyLifetimeMs) return Infinity;
  return issuedAt + lifetimeMs * (EARLY_RENEWAL_START + EARLY_RENEWAL_SPREAD * hashToUnitInterval(id));
}

/** The reason of an active record whose authorization server refuses a refresh before the access token expires. */
export const EARLY_REFUSED = 'early_refused';

/** In [0, 1). */
function hashToUnitInterval(id: string): number {
  return createHash('sha256').update(id).digest().readUInt32BE() / 2 ** 32;
}
