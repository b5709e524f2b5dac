import type { CredentialKey } from '../../ports/index.ts';
import type { SignInReason } from '../signInReason.ts';
import type { Notices } from './notices.ts';
import { openTokens, sealAnew } from './openTokens.ts';
import type { VaultTools } from './vaultParts.ts';

export interface RequireSignInParts extends Pick<VaultTools, 'store' | 'keyring' | 'clock' | 'record'> {
  readonly notices: Notices;
}

/** A refresh that stores its pair at the same moment makes us look once more. */
const MOST_TRIES = 20;

/** Marks a credential: its user has to sign in again. What lives is used to its end. */
export function createRequireSignIn({ store, keyring, clock, record: tell, notices }: RequireSignInParts) {
  return async (key: CredentialKey, reason: SignInReason): Promise<boolean> => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const record = await store.find(key);
      // What is over, or does not open, says enough.
      const tokens = record?.status === 'active' ? openTokens(keyring, record) : undefined;
      if (!record || !tokens) return false;
      const { id, generation, tokenSeq } = record;
      // As another pair, so that a refresh under way sees the mark before it stores its own.
      const sealed = sealAnew(keyring, record, tokens);
      const mark = { status: 'rejected', reason, statusAt: clock.now() } as const;
      const marked = await store.replace(id, { generation, tokenSeq }, { ...sealed, ...mark });
      if (!marked) continue;
      tell({ kind: 'sign_in_needed', credential: key, reason });
      await notices.publish(id);
      return true;
    }
    return false;
  };
}
