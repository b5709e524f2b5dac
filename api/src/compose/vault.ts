import {
  type AppTokens,
  type Audit,
  type CredentialSelector,
  type CredentialVault,
  type GrantContexts,
  type OAuthServices,
  type OAuthTokens,
  createAppTokens,
  createCredentialSelector,
  createOAuthTokens,
  createVault,
} from '@behalf/gateway';
import { type RefreshStats, recordVaultEvent } from '../routes/ops/counters.ts';
import type { ReloadableNetwork } from '../runtime/network.ts';
import type { ComposeContext } from './context.ts';

type VaultContext = Pick<
  ComposeContext,
  'clock' | 'random' | 'keyring' | 'log' | 'primary' | 'coordination' | 'disposables'
> & { readonly egress: Pick<ReloadableNetwork, 'network'> };

interface VaultParts {
  readonly refreshes: Pick<RefreshStats, 'count' | 'countNotStored'>;
  readonly audit: Pick<Audit, 'note'>;
  /** How tokens of logins are refreshed; null without an identity provider. */
  readonly loginGrants: GrantContexts | null;
  /** How grants at servers are refreshed. A function, because servers and vault depend on each other. */
  readonly serverGrants: () => Pick<OAuthServices, 'contexts' | 'appGrants'>;
}

export interface Vault {
  readonly vault: CredentialVault;
  readonly selector: CredentialSelector;
  readonly oauthTokens: OAuthTokens;
  readonly appTokens: AppTokens;
}

/** The token vault, and the token sources of calls that read it. */
export function composeVault(context: VaultContext, parts: VaultParts): Vault {
  const { clock, random, keyring, log, primary, coordination, disposables, egress } = context;
  const { leases, changes, pendingWrites } = coordination;
  const { loginGrants, serverGrants } = parts;
  const vault = createVault({
    store: primary.credentials,
    usage: primary.credentialUsage,
    ...{ pendingWrites, leases, changes, keyring, clock, random, log },
    contexts: {
      async resolve(record) {
        if (record.kind !== 'login') return serverGrants().contexts.resolve(record);
        return loginGrants ? loginGrants.resolve(record) : 'unbound';
      },
    },
    appGrants: { resolve: async (key) => serverGrants().appGrants.resolve(key) },
    readError: (error) => egress.network.readError(error),
    record: (event) => recordVaultEvent(parts, event),
  });
  disposables.add(() => vault.close());
  const selector = createCredentialSelector({ store: primary.credentials, changes, clock });
  disposables.add(() => selector.close());
  return {
    ...{ vault, selector },
    oauthTokens: createOAuthTokens({ vault, selector }),
    appTokens: createAppTokens(vault),
  };
}
