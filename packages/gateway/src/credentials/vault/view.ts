import type { CredentialKey, CredentialRecord } from '../../ports/index.ts';
import type { Dpop } from '../dpop/dpop.ts';
import type { GrantContext } from '../oauth/grantContext.ts';
import { openTokens, type OpenTokens } from './openTokens.ts';
import type { VaultTools } from './vaultParts.ts';

/**
 * Whether a credential is still for what the server is now. `old_client`: we registered anew there, so that the refresh
 * token is nobody's; the access token is as good as before.
 */
export type Fit = 'fits' | 'old_client' | 'unbound';

/** A credential as it was at one moment, with everything that decides about it. */
export interface CredentialView {
  readonly key: CredentialKey;
  /** Null: there is none. */
  readonly record: CredentialRecord | null;
  /** Undefined: gone, or it does not open. */
  readonly tokens: OpenTokens | undefined;
  readonly fit: Fit;
  readonly context: GrantContext | undefined;
}

/** Reads it anew. Rejects when the store, or who knows the definitions, does not answer. */
export type ReadView = (key: CredentialKey, record: CredentialRecord | null) => Promise<CredentialView>;

export function createReadView({
  keyring,
  contexts,
  dpop,
}: Pick<VaultTools, 'keyring' | 'contexts' | 'dpop'>): ReadView {
  return async (key, record) => {
    if (record?.sealed == null) return { key, record, tokens: undefined, fit: 'fits', context: undefined };
    const found = await contexts.of(record);
    const context = found === 'unbound' ? undefined : found;
    const tokens = provable(openTokens(keyring, record), dpop);
    return { key, record, tokens, fit: fitOf(record, context), context };
  };
}

function provable(tokens: OpenTokens | undefined, dpop: Dpop): OpenTokens | undefined {
  return tokens?.dpopKey ? { ...tokens, prover: dpop.prover(tokens.dpopKey) } : tokens;
}

export function fitOf(record: CredentialRecord, context: GrantContext | undefined): Fit {
  if (!context) return 'unbound';
  const { binding, client } = context;
  const isSame =
    binding.canonicalUrl === record.canonicalUrl &&
    binding.issuer === record.issuer &&
    binding.resource === record.resource;
  if (!isSame) return 'unbound';
  if (binding.clientId === record.clientId) return 'fits';
  return client.source === 'dynamic' ? 'old_client' : 'unbound';
}
