import { createHmac } from 'node:crypto';
import { HiddenText, type Keyring, type Random, SealError } from '@behalf/kernel';
import {
  type CredentialEndpoints,
  type CredentialPatch,
  type CredentialRecord,
  toCredentialSealContext,
} from '../../ports/index.ts';
import type { Prover } from '../oauth/dpop.ts';
import type { TokenSet } from '../oauth/tokenEndpoint.ts';

/** Tokens of a token response that are not stored yet. */
export interface ReceivedTokens {
  readonly tokens: TokenSet;
  /** When the request was sent. Lifetimes count from here, because the authorization server may count from here. */
  readonly sentAt: number;
  /** An earlier request with the same refresh token may have been lost. */
  readonly isInDoubt: boolean;
}

/** The reason of an active record whose refresh token may have been consumed. */
export const IN_DOUBT = 'in_doubt';

/** The next tokens and the patch that stores them. Fields that the response omits keep their value (RFC 6749, section 6). */
export function buildNextPair(
  keyring: Keyring,
  record: CredentialRecord,
  previousTokens: DecryptedTokens,
  { tokens, sentAt, isInDoubt }: ReceivedTokens,
): { readonly tokens: DecryptedTokens; readonly patch: CredentialPatch } {
  const tokenSeq = record.tokenSeq + 1;
  const { isRefreshTokenUnusable: isUnusable = false } = tokens;
  // Some servers that already issued a successor answer the old refresh token with an access token only: the stored
  // refresh token stays in doubt.
  const isSuspect = isUnusable || (isInDoubt && tokens.refreshToken === undefined);
  const mergedTokens = mergeTokens(previousTokens, tokens);
  return {
    tokens: mergedTokens,
    patch: {
      ...sealTokens(keyring, { ...record, tokenSeq }, mergedTokens),
      ...toLifetime(tokens, sentAt),
      tokenSeq,
      rtSuspect: isSuspect,
      ...(!requiresSignIn(record) && { status: 'active' }),
      ...(!requiresSignIn(record) && !isSuspect && { reason: null, statusAt: sentAt }),
      ...(!requiresSignIn(record) && isUnusable && { reason: IN_DOUBT, statusAt: sentAt }),
      scopesGranted: tokens.scope === undefined ? record.scopesGranted : normalizeScopes(tokens.scope),
      ...clearedClaim,
    },
  };
}

/** Fields that the response omits keep their value. */
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

/**
 * True if the user must sign in again even after a successful refresh. The reasons `rejected` and `lost_rotation`
 * concern one refresh token and end with its successor.
 */
function requiresSignIn({ status, reason }: CredentialRecord): boolean {
  return status === 'rejected' && reason !== 'rejected' && reason !== 'lost_rotation';
}

/** Settles the claim in the record. */
export const clearedClaim = { claimOwner: null, claimStartedAt: null, claimDeadline: null } as const;

export function toLifetime(
  { expiresInS }: TokenSet,
  sentAt: number,
): Pick<CredentialRecord, 'issuedAt' | 'lifetimeMs' | 'tokenExpiresAt'> {
  const lifetimeMs = expiresInS === null ? null : Math.max(0, Math.round(expiresInS * 1_000));
  return { issuedAt: sentAt, lifetimeMs, tokenExpiresAt: lifetimeMs === null ? null : sentAt + lifetimeMs };
}

/** Sorted, without duplicates, separated by single spaces. */
export function normalizeScopes(scopes: string): string {
  return [...new Set(scopes.split(/\s+/).filter((scope) => scope !== ''))].sort().join(' ');
}

/** The decrypted tokens of a record. */
export interface DecryptedTokens {
  readonly accessToken: string;
  readonly tokenType: TokenSet['tokenType'];
  readonly refreshToken: HiddenText | undefined;
  readonly idToken: string | undefined;
  /** Sealed with the tokens, so that an attacker with write access to the store cannot change where they are sent. */
  readonly endpoints: CredentialEndpoints | null;
  /** The private JWK of a DPoP-bound token. It leaves the vault only as signatures. */
  readonly dpopKey?: HiddenText | undefined;
  /** Built from `dpopKey` when the record is read. */
  readonly prover?: Prover | undefined;
  /**
   * The HMAC key of `atHash` and `rtHash`. It is random per generation and sealed with the tokens: a rotation of the
   * sealing key changes no hash, and a database dump does not allow tokens to be guessed.
   */
  readonly hashKey: HiddenText;
}

interface SealedPayload extends Pick<DecryptedTokens, 'accessToken' | 'tokenType' | 'endpoints'> {
  readonly refreshToken?: string | undefined;
  readonly idToken?: string | undefined;
  readonly hashKey: string;
  readonly dpopKey?: string | undefined;
}

type SealTarget = Parameters<typeof toCredentialSealContext>[0];

export function createHashKey(random: Random): HiddenText {
  return new HiddenText(Buffer.from(random.bytes(32)).toString('base64url'));
}

function hashToken(hashKey: HiddenText, token: string): string {
  return createHmac('sha256', Buffer.from(hashKey.reveal(), 'base64url')).update(token).digest('base64url');
}

/** The fields of the record that hold the tokens. */
export function sealTokens(
  keyring: Keyring,
  record: SealTarget,
  tokens: DecryptedTokens,
): Pick<CredentialRecord, 'sealed' | 'atHash' | 'rtHash' | 'endpoints'> {
  const { accessToken, refreshToken, idToken, tokenType, endpoints, hashKey } = tokens;
  const payload: SealedPayload = {
    accessToken,
    refreshToken: refreshToken?.reveal(),
    idToken,
    tokenType,
    endpoints,
    hashKey: hashKey.reveal(),
    dpopKey: tokens.dpopKey?.reveal(),
  };
  return {
    sealed: keyring.seal(JSON.stringify(payload), toCredentialSealContext(record)),
    endpoints,
    atHash: hashToken(hashKey, accessToken),
    rtHash: refreshToken === undefined ? null : hashToken(hashKey, refreshToken.reveal()),
  };
}

/** Seals under the next sequence number, so that a concurrent write of tokens detects the change. */
export function resealTokens(
  keyring: Keyring,
  record: SealTarget,
  tokens: DecryptedTokens,
): ReturnType<typeof sealTokens> & Pick<CredentialRecord, 'tokenSeq'> {
  const tokenSeq = record.tokenSeq + 1;
  return { ...sealTokens(keyring, { ...record, tokenSeq }, tokens), tokenSeq };
}

/** Undefined if no key of this gateway opens them, or if they were sealed for another record. */
export function openTokens(
  keyring: Keyring,
  record: SealTarget & Pick<CredentialRecord, 'sealed'>,
): DecryptedTokens | undefined {
  if (record.sealed === null) return undefined;
  let text: string;
  try {
    text = keyring.open(record.sealed, toCredentialSealContext(record));
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
  const { refreshToken, hashKey, dpopKey, ...payload } = JSON.parse(text) as SealedPayload;
  return {
    ...payload,
    idToken: payload.idToken,
    refreshToken: refreshToken === undefined ? undefined : new HiddenText(refreshToken),
    hashKey: new HiddenText(hashKey),
    ...(dpopKey !== undefined && { dpopKey: new HiddenText(dpopKey) }),
  };
}
