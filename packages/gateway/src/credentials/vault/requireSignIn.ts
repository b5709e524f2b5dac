import type { CredentialKey } from '../../ports/index.ts';
import type { SignInReason } from '../signInReason.ts';
import type { ChangeBus } from './changeBus.ts';
import { openTokens, resealTokens } from './sealedTokens.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

export interface RequireSignInParts extends Pick<
  ResolvedVaultParts,
  'store' | 'keyring' | 'clock' | 'record'
> {
  readonly changeBus: ChangeBus;
}

/** A refresh that stores its pair at the same moment makes us look once more. */
const MAX_MARK_ATTEMPTS = 20;

/** Marks a credential: its user has to sign in again. What lives is used to its end. */
export function createRequireSignIn({
  store,
  keyring,
  clock,
  record: recordEvent,
  changeBus,
}: RequireSignInParts) {
  return async (key: CredentialKey, reason: SignInReason): Promise<boolean> => {
    for (let attempt = 0; attempt < MAX_MARK_ATTEMPTS; attempt += 1) {
      const record = await store.find(key);
      // What is over, or does not open, says enough.
      const tokens = record?.status === 'active' ? openTokens(keyring, record) : undefined;
      if (!record || !tokens) return false;
      const { id, generation, tokenSeq } = record;
      // As another pair, so that a refresh under way sees the mark before it stores its own.
      const sealed = resealTokens(keyring, record, tokens);
      const patch = { status: 'rejected', reason, statusAt: clock.now() } as const;
      const updated = await store.replace(id, { generation, tokenSeq }, { ...sealed, ...patch });
      if (!updated) continue;
      recordEvent({ kind: 'sign_in_needed', credential: key, reason });
      await changeBus.publish(id);
      return true;
    }
    return false;
  };
}
