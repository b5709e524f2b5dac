import { createHash } from 'node:crypto';
import type { CredentialRecord } from '../../ports/index.ts';
import { type SignInReason, signInReasons } from '../signInRequired.ts';
import type { VaultTimings } from './createVault.ts';
import type { CredentialSnapshot } from './read.ts';
import type { DecryptedTokens } from './tokenPair.ts';
import type { TokenOutcome, VaultToken } from './vault.ts';

export interface DecisionInput {
  readonly now: number;
  /** The access token that a server refused. */
  readonly refusedToken?: string | undefined;
  /** Nobody waits: is it time to renew it all the same? */
  readonly isEarly?: boolean | undefined;
}

/** `renew`: with what may still be used if that fails. */
type CredentialDecision =
  | { readonly kind: 'outcome'; readonly outcome: TokenOutcome }
  | { readonly kind: 'renew'; readonly fallback: VaultToken | undefined };

/** What follows from a credential as it is. Sends nothing, stores nothing. */
export function evaluateCredential(
  snapshot: CredentialSnapshot,
  input: DecisionInput,
  timings: VaultTimings,
): CredentialDecision {
  const { key, record, tokens, bindingStatus } = snapshot;
  const isAppCredential = key.kind === 'client_credentials';
  const reauthOrRenew = (reason: SignInReason): CredentialDecision =>
    // Nobody signs in for the app: it asks for another token.
    isAppCredential ? { kind: 'renew', fallback: undefined } : decideReauth(snapshot, reason);

  if (!record) return reauthOrRenew('absent');
  if (record.status === 'revoked' || record.sealed === null) return reauthOrRenew('revoked');
  if (bindingStatus === 'unbound' || record.status === 'unbound') return reauthOrRenew('unbound');
  if (!tokens || record.status === 'unreadable') return reauthOrRenew('unreadable');
  // Without its key: presented as a bearer it would be refused, or worse, accepted.
  if (tokens.tokenType === 'dpop' && !tokens.prover)
    return decideOutcome({ kind: 'misconfigured', error: 'token_type_unsupported' });

  // Whoever has a copy could use it, and the operator wants none of that kind here.
  if (tokens.tokenType !== 'dpop' && snapshot.context?.dpop === 'require' && record.kind !== 'static') {
    return reauthOrRenew('unbound');
  }

  const { now, refusedToken, isEarly = false } = input;
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
  // A refresh token that may be dead is sent again only where the authorization server is known to forgive it, or when
  // there is nothing left to lose.
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

/** Whether the authorization server is known to take a refresh token again that it may have replaced then. */
export function isInRotationGrace(
  context: CredentialSnapshot['context'],
  inDoubtSince: number,
  now: number,
): boolean {
  return now - inDoubtSince < (context?.profile.rotationGraceMs ?? 0);
}

function decideReauth({ record }: CredentialSnapshot, reason: SignInReason): CredentialDecision {
  return decideOutcome({ kind: 'needs_reauth', reason, credentialId: record?.id });
}

function decideToken(token: VaultToken): CredentialDecision {
  return decideOutcome({ kind: 'token', token });
}

function decideOutcome(decideOutcome: TokenOutcome): CredentialDecision {
  return { kind: 'outcome', outcome: decideOutcome };
}

function toSignInReason(reason: string | null): SignInReason {
  return signInReasons.find((candidate) => candidate === reason) ?? 'rejected';
}

/** The part of a lifetime after which a token may be renewed before anybody asks, and how far that is spread. */
const EARLY_RENEWAL_START = 0.8;
const EARLY_RENEWAL_SPREAD = 0.12;

export function skewOf(lifetimeMs: number | null, { maxSkewMs }: VaultTimings): number {
  return lifetimeMs === null ? 0 : Math.min(maxSkewMs, lifetimeMs / 10);
}

/** Until its very end; or, when there is a way to another one, until a moment before. */
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

/**
 * When a token is renewed before anybody has to wait for it: the same moment in all processes, another one for each
 * credential, so that those who signed in together are not renewed together. Infinity: never.
 */
export function earlyRenewalAt(record: CredentialRecord, { minEarlyLifetimeMs }: VaultTimings): number {
  const { id, issuedAt, lifetimeMs, rtHash, status, reason } = record;
  const isNeverEarly = status !== 'active' || rtHash === null || reason === EARLY_REFUSED;
  if (isNeverEarly || lifetimeMs === null || lifetimeMs < minEarlyLifetimeMs) return Infinity;
  return issuedAt + lifetimeMs * (EARLY_RENEWAL_START + EARLY_RENEWAL_SPREAD * hashToUnitInterval(id));
}

/** The reason of a record that is active: its authorization server does not renew a token that still lives. */
export const EARLY_REFUSED = 'early_refused';

/** In [0, 1). */
function hashToUnitInterval(id: string): number {
  return createHash('sha256').update(id).digest().readUInt32BE() / 2 ** 32;
}
