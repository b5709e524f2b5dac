import type { CredentialRecord } from '../../ports/index.ts';
import type { DecryptedTokens } from './sealedTokens.ts';
import { buildNextPair, type ReceivedTokens } from './tokenPair.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

export type CasResult =
  | { readonly kind: 'saved'; readonly record: CredentialRecord; readonly tokens: DecryptedTokens }
  /** Another refresh of the same grant has stored its pair. */
  | { readonly kind: 'rotated' }
  /** Somebody signed in or out: the grant itself is another, or ended, or gone (null). */
  | { readonly kind: 'superseded'; readonly by: CredentialRecord | null };

/**
 * Stores a pair in the place of the one whose refresh token it consumed, and of no other: whoever holds the successor may
 * store it, however long ago their claim ended; nobody else may. Rejects when the store does not answer.
 */
export async function casTokens(
  { store, keyring }: Pick<ResolvedVaultParts, 'store' | 'keyring'>,
  consumedRecord: CredentialRecord,
  previousTokens: DecryptedTokens,
  received: ReceivedTokens,
): Promise<CasResult> {
  const { id, generation, rtHash } = consumedRecord;
  let current = consumedRecord;
  for (;;) {
    const { tokens, patch } = buildNextPair(keyring, current, previousTokens, received);
    const expected = { generation, rtHash, tokenSeq: current.tokenSeq };
    const record = await store.replace(id, expected, patch);
    if (record) return { kind: 'saved', record, tokens };
    const stored = await store.findById(id);
    if (stored?.generation !== generation) return { kind: 'superseded', by: stored };
    // An answer of the store was lost: what we wrote is there.
    if (stored.atHash === patch.atHash && stored.rtHash === patch.rtHash)
      return { kind: 'saved', record: stored, tokens };
    // Without refresh tokens the newer one stays; with one it is about whose successor this is.
    if (stored.rtHash !== rtHash || rtHash === null) return { kind: 'rotated' };
    current = stored;
  }
}
