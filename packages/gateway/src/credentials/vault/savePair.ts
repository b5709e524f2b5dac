import type { CredentialRecord } from '../../ports/index.ts';
import type { OpenTokens } from './openTokens.ts';
import { nextPair, type Received } from './pair.ts';
import type { VaultTools } from './vaultParts.ts';

export type Saved =
  | { readonly kind: 'saved'; readonly record: CredentialRecord; readonly tokens: OpenTokens }
  /** Another refresh of the same grant has stored its pair. */
  | { readonly kind: 'rotated' }
  /** Somebody signed in or out: the grant itself is another, or ended, or gone (null). */
  | { readonly kind: 'superseded'; readonly by: CredentialRecord | null };

/**
 * Stores a pair in the place of the one whose refresh token it consumed, and of no other: whoever holds the successor may
 * store it, however long ago their claim ended; nobody else may. Rejects when the store does not answer.
 */
export async function savePair(
  { store, keyring }: Pick<VaultTools, 'store' | 'keyring'>,
  consumed: CredentialRecord,
  before: OpenTokens,
  received: Received,
): Promise<Saved> {
  const { id, generation, rtHash } = consumed;
  let current = consumed;
  for (;;) {
    const { tokens, patch } = nextPair(keyring, current, before, received);
    const when = { generation, rtHash, tokenSeq: current.tokenSeq };
    const record = await store.replace(id, when, patch);
    if (record) return { kind: 'saved', record, tokens };
    const found = await store.findById(id);
    if (found?.generation !== generation) return { kind: 'superseded', by: found };
    // An answer of the store was lost: what we wrote is there.
    if (found.atHash === patch.atHash && found.rtHash === patch.rtHash)
      return { kind: 'saved', record: found, tokens };
    // Without refresh tokens the newer one stays; with one it is about whose successor this is.
    if (found.rtHash !== rtHash || rtHash === null) return { kind: 'rotated' };
    current = found;
  }
}
