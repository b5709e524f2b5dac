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

/** Tokens as they came, not yet stored. */
export interface ReceivedTokens {
  readonly tokens: TokenSet;
  /** When the request for them was sent: a lifetime is counted from here, as the authorization server may have. */
  readonly sentAt: number;
  /** A request before it may have been lost on the way. */
  readonly isInDoubt: boolean;
}

interface NextTokenPair {
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

/** The tokens of a record, opened. What must not leave this folder is hidden from logs and inspection besides. */
export interface DecryptedTokens {
  readonly accessToken: string;
  readonly tokenType: TokenSet['tokenType'];
  readonly refreshToken: HiddenText | undefined;
  readonly idToken: string | undefined;
  /** Where they may be sent: sealed with them, so that who can write into the store cannot have them sent elsewhere. */
  readonly endpoints: CredentialEndpoints | null;
  /** The key that they are bound to, where they are: a private JWK. It never leaves but as what it signs. */
  readonly dpopKey?: HiddenText | undefined;
  /** Made of it where the tokens are used. */
  readonly prover?: Prover | undefined;
  /**
   * What the hashes in the record are made with: of one generation, and sealed with the tokens, so that a change of keys
   * changes no hash and nobody guesses a token by a dump.
   */
  readonly hashKey: HiddenText;
}

interface SealedPayload {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly idToken?: string | undefined;
  readonly tokenType: TokenSet['tokenType'];
  readonly endpoints: CredentialEndpoints | null;
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

/** What the record holds of these tokens. */
export function sealTokens(
  keyring: Keyring,
  record: SealTarget,
  tokens: DecryptedTokens,
): Pick<CredentialRecord, 'sealed' | 'atHash' | 'rtHash' | 'endpoints'> {
  const { accessToken, refreshToken, idToken, tokenType, endpoints, hashKey } = tokens;
  const payload: SealedPayload = {
    accessToken: accessToken,
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

/** The same, counted as another pair: whoever stores one at the same moment sees that something changed. */
export function resealTokens(
  keyring: Keyring,
  record: SealTarget,
  tokens: DecryptedTokens,
): ReturnType<typeof sealTokens> & Pick<CredentialRecord, 'tokenSeq'> {
  const tokenSeq = record.tokenSeq + 1;
  return { ...sealTokens(keyring, { ...record, tokenSeq }, tokens), tokenSeq };
}

/** Undefined when it does not open: with our keys, or because it belongs elsewhere. */
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
  const { accessToken, refreshToken, idToken, tokenType, endpoints, hashKey, dpopKey } = JSON.parse(
    text,
  ) as SealedPayload;
  return {
    accessToken: accessToken,
    tokenType,
    refreshToken: refreshToken === undefined ? undefined : new HiddenText(refreshToken),
    idToken,
    endpoints,
    hashKey: new HiddenText(hashKey),
    ...(dpopKey !== undefined && { dpopKey: new HiddenText(dpopKey) }),
  };
}
