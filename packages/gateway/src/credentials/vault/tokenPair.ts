import { HiddenText, type Keyring } from '@behalf/kernel';
import type { CredentialPatch, CredentialRecord } from '../../ports/index.ts';
import type { TokenSet } from '../oauth/tokenEndpointResult.ts';
import { sealTokens, type DecryptedTokens } from './sealedTokens.ts';

/** Tokens as they came, not yet stored. */
export interface ReceivedTokens {
  readonly tokens: TokenSet;
  /** When the request for them was sent: a lifetime is counted from here, as the authorization server may have. */
  readonly sentAt: number;
  /** A request before it may have been lost on the way. */
  readonly isInDoubt: boolean;
}

export interface NextTokenPair {
  readonly tokens: DecryptedTokens;
  readonly patch: CredentialPatch;
}

/** The reason of a record that is active: its refresh token may have been consumed, since then. */
export const IN_DOUBT = 'in_doubt';

/** The pair that follows: what the answer leaves out stays as it was (RFC 6749, section 6). */
export function buildNextPair(
  keyring: Keyring,
  record: CredentialRecord,
  previousTokens: DecryptedTokens,
  { tokens, sentAt, isInDoubt }: ReceivedTokens,
): NextTokenPair {
  const tokenSeq = record.tokenSeq + 1;
  const { isRefreshTokenUnusable: isUnusable = false } = tokens;
  const isSuspect = isUnusable || (isInDoubt && tokens.refreshToken === undefined);
  const mergedTokens = mergeTokens(previousTokens, tokens);
  return {
    tokens: mergedTokens,
    patch: {
      ...sealTokens(keyring, { ...record, tokenSeq }, mergedTokens),
      ...toLifetime(tokens, sentAt),
      tokenSeq,
      // Some mint only an access token for a refresh token whose successor they already gave out: it stays in doubt.
      rtSuspect: isSuspect,
      ...(!requiresSignIn(record) && { status: 'active' }),
      ...(!requiresSignIn(record) && !isSuspect && { reason: null, statusAt: sentAt }),
      ...(!requiresSignIn(record) && isUnusable && { reason: IN_DOUBT, statusAt: sentAt }),
      scopesGranted: tokens.scope === undefined ? record.scopesGranted : normalizeScopes(tokens.scope),
      ...clearedClaim,
    },
  };
}

/** What an answer leaves out stays as it was. */
export function mergeTokens(previousTokens: DecryptedTokens, tokens: TokenSet): DecryptedTokens {
  const { accessToken, tokenType, refreshToken, idToken } = tokens;
  return {
    ...previousTokens,
    accessToken,
    tokenType,
    refreshToken: refreshToken === undefined ? previousTokens.refreshToken : new HiddenText(refreshToken),
    idToken: idToken ?? previousTokens.idToken,
  };
}

/** Its user has to sign in again whatever its tokens are worth. A verdict on a refresh token falls with its successor. */
function requiresSignIn({ status, reason }: CredentialRecord): boolean {
  return status === 'rejected' && reason !== 'rejected' && reason !== 'lost_rotation';
}

/** A claim that is over. */
export const clearedClaim = { claimOwner: null, claimStartedAt: null, claimDeadline: null } as const;

export function toLifetime(
  { expiresInS }: TokenSet,
  sentAt: number,
): Pick<CredentialRecord, 'issuedAt' | 'lifetimeMs' | 'tokenExpiresAt'> {
  const lifetimeMs = expiresInS === null ? null : Math.max(0, Math.round(expiresInS * 1_000));
  return { issuedAt: sentAt, lifetimeMs, tokenExpiresAt: lifetimeMs === null ? null : sentAt + lifetimeMs };
}

/** Sorted, each once, separated by blanks. */
export function normalizeScopes(scopes: string): string {
  return [...new Set(scopes.split(/\s+/).filter((scope) => scope !== ''))].sort().join(' ');
}
