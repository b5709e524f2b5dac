import { createHmac } from 'node:crypto';
import { HiddenText, SealError, type Keyring, type Random } from '@behalf/kernel';
import {
  toCredentialSealContext,
  type CredentialEndpoints,
  type CredentialRecord,
} from '../../ports/index.ts';
import type { Prover } from '../dpop/dpop.ts';
import type { TokenSet } from '../oauth/tokenEndpointResult.ts';

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

export function hashToken(hashKey: HiddenText, token: string): string {
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
