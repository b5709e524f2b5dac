import { HiddenText, type Keyring } from '@behalf/kernel';
import type { CredentialPatch, CredentialRecord } from '../../ports/index.ts';
import type { TokenSet } from '../oauth/tokenAnswer.ts';
import { sealTokens, type OpenTokens } from './openTokens.ts';

/** Tokens as they came, not yet stored. */
export interface Received {
  readonly tokens: TokenSet;
  /** When the request for them was sent: a lifetime is counted from here, as the authorization server may have. */
  readonly sentAt: number;
  /** A request before it may have been lost on the way. */
  readonly isInDoubt: boolean;
}

export interface NextPair {
  readonly tokens: OpenTokens;
  readonly patch: CredentialPatch;
}

/** The reason of a record that is active: its refresh token may have been consumed, since then. */
export const IN_DOUBT = 'in_doubt';

/** The pair that follows: what the answer leaves out stays as it was (RFC 6749, section 6). */
export function nextPair(
  keyring: Keyring,
  record: CredentialRecord,
  before: OpenTokens,
  { tokens, sentAt, isInDoubt }: Received,
): NextPair {
  const tokenSeq = record.tokenSeq + 1;
  const { isRefreshTokenUnusable: isLost = false } = tokens;
  const isSuspect = isLost || (isInDoubt && tokens.refreshToken === undefined);
  const next = nextTokens(before, tokens);
  return {
    tokens: next,
    patch: {
      ...sealTokens(keyring, { ...record, tokenSeq }, next),
      ...lifetimeOf(tokens, sentAt),
      tokenSeq,
      // Some mint only an access token for a refresh token whose successor they already gave out: it stays in doubt.
      rtSuspect: isSuspect,
      ...(!isMarked(record) && { status: 'active' }),
      ...(!isMarked(record) && !isSuspect && { reason: null, statusAt: sentAt }),
      ...(!isMarked(record) && isLost && { reason: IN_DOUBT, statusAt: sentAt }),
      scopesGranted: tokens.scope === undefined ? record.scopesGranted : scopeText(tokens.scope),
      ...settled,
    },
  };
}

/** What an answer leaves out stays as it was. */
export function nextTokens(before: OpenTokens, tokens: TokenSet): OpenTokens {
  const { accessToken, tokenType, refreshToken, idToken } = tokens;
  return {
    ...before,
    accessToken,
    tokenType,
    refreshToken: refreshToken === undefined ? before.refreshToken : new HiddenText(refreshToken),
    idToken: idToken ?? before.idToken,
  };
}

/** Its user has to sign in again whatever its tokens are worth. A verdict on a refresh token falls with its successor. */
function isMarked({ status, reason }: CredentialRecord): boolean {
  return status === 'rejected' && reason !== 'rejected' && reason !== 'lost_rotation';
}

/** A claim that is over. */
export const settled = { claimOwner: null, claimStartedAt: null, claimDeadline: null } as const;

export function lifetimeOf(
  { expiresInS }: TokenSet,
  sentAt: number,
): Pick<CredentialRecord, 'issuedAt' | 'lifetimeMs' | 'tokenExpiresAt'> {
  const lifetimeMs = expiresInS === null ? null : Math.max(0, Math.round(expiresInS * 1_000));
  return { issuedAt: sentAt, lifetimeMs, tokenExpiresAt: lifetimeMs === null ? null : sentAt + lifetimeMs };
}

/** Sorted, each once, separated by blanks. */
export function scopeText(scopes: string): string {
  return [...new Set(scopes.split(/\s+/).filter((scope) => scope !== ''))].sort().join(' ');
}
