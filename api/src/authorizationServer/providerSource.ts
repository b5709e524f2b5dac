import type { AuthorizationServer } from '@behalf/contracts';
import type { Log, Provisioning } from '@behalf/gateway';
import type {
  ClientGrants,
  AuthorizationServerKeys,
  AuthorizationServerRecords,
  AuthorizationServerSecrets,
  IdJagVerifier,
} from '@behalf/gateway/facade';
import type { UserStore } from '@behalf/gateway/ports';
import type { Clock, Fetch, Random } from '@behalf/kernel';
import type Provider from 'oidc-provider';
import type { TokenResources } from './resources.ts';

export interface ProviderSourceParts {
  readonly settings: Readonly<AuthorizationServer>;
  readonly issuer: () => string;
  readonly secure: () => boolean;
  readonly resources: TokenResources;
  readonly keys: AuthorizationServerKeys;
  readonly records: AuthorizationServerRecords;
  readonly grants: ClientGrants;
  /** Null where no issuer is trusted to vouch for users. */
  readonly idJags: { readonly accept: IdJagVerifier; readonly provisioning: Provisioning } | null;
  readonly users: Pick<UserStore, 'findById'>;
  /** To clients' documents and keys. */
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Our own authorization server: the library, on our stores, by our rules. */
export interface ProviderSource {
  /** By the keys that count now. Made when somebody first asks for it: the library is loaded for nobody else. */
  getProvider(): Promise<Provider>;
}

export function createProviderSource(parts: ProviderSourceParts): ProviderSource {
  let current: { readonly secrets: AuthorizationServerSecrets; readonly provider: Provider } | null = null;

  return {
    async getProvider() {
      const [secrets, { openProvider }] = await Promise.all([
        parts.keys.secrets(),
        import('./openProvider.ts'),
      ]);
      // The library takes its keys once. Another set of them is another instance, around the same records and cookies.
      if (current?.secrets !== secrets) current = { secrets, provider: openProvider(parts, secrets) };
      return current.provider;
    },
  };
}
