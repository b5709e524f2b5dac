import type { CredentialKey, CredentialRecord } from '../../ports/index.ts';
import type { Dpop } from '../dpop/dpop.ts';
import type { GrantContext } from '../oauth/grantContext.ts';
import { openTokens, type DecryptedTokens } from './sealedTokens.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

/**
 * Whether a credential is still for what the server is now. `old_client`: we registered anew there, so that the refresh
 * token is nobody's; the access token is as good as before.
 */
export type BindingStatus = 'bound' | 'old_client' | 'unbound';

/** A credential as it was at one moment, with everything that decides about it. */
export interface CredentialSnapshot {
  readonly key: CredentialKey;
  /** Null: there is none. */
  readonly record: CredentialRecord | null;
  /** Undefined: gone, or it does not open. */
  readonly tokens: DecryptedTokens | undefined;
  readonly bindingStatus: BindingStatus;
  readonly context: GrantContext | undefined;
}

/** Reads it anew. Rejects when the store, or who knows the definitions, does not answer. */
export type LoadSnapshot = (
  key: CredentialKey,
  record: CredentialRecord | null,
) => Promise<CredentialSnapshot>;

export function createLoadSnapshot({
  keyring,
  contexts,
  dpop,
}: Pick<ResolvedVaultParts, 'keyring' | 'contexts' | 'dpop'>): LoadSnapshot {
  return async (key, record) => {
    if (record?.sealed == null)
      return { key, record, tokens: undefined, bindingStatus: 'bound', context: undefined };
    const found = await contexts.resolve(record);
    const context = found === 'unbound' ? undefined : found;
    const tokens = withProver(openTokens(keyring, record), dpop);
    return { key, record, tokens, bindingStatus: checkBinding(record, context), context };
  };
}

function withProver(tokens: DecryptedTokens | undefined, dpop: Dpop): DecryptedTokens | undefined {
  return tokens?.dpopKey ? { ...tokens, prover: dpop.proverFor(tokens.dpopKey) } : tokens;
}

export function checkBinding(record: CredentialRecord, context: GrantContext | undefined): BindingStatus {
  if (!context) return 'unbound';
  const { binding, client } = context;
  const isSameBinding =
    binding.canonicalUrl === record.canonicalUrl &&
    binding.issuer === record.issuer &&
    binding.resource === record.resource;
  if (!isSameBinding) return 'unbound';
  if (binding.clientId === record.clientId) return 'bound';
  return client.source === 'dynamic' ? 'old_client' : 'unbound';
}
