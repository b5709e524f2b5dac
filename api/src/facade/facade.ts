import type { AuthorizationServer } from '@behalf/contracts';
import type { Log, Provisioning } from '@behalf/gateway';
import type { ClientGrants, FacadeKeys, FacadeRecords, IdJags } from '@behalf/gateway/facade';
import type { UserStore } from '@behalf/gateway/ports';
import { createSingleFlight, type Clock, type Fetch, type Random } from '@behalf/kernel';
import type Provider from 'oidc-provider';
import type { MayAsk } from './askLimit.ts';
import type { Resources } from './resources.ts';

export interface FacadeParts {
  readonly settings: Readonly<AuthorizationServer>;
  readonly issuer: () => string;
  readonly secure: () => boolean;
  readonly resources: Resources;
  readonly keys: FacadeKeys;
  readonly records: FacadeRecords;
  readonly grants: ClientGrants;
  /** Null where no issuer is trusted to vouch for users. */
  readonly idJags: { readonly accept: IdJags; readonly provisioning: Provisioning } | null;
  readonly users: Pick<UserStore, 'findById'>;
  readonly fetch: Fetch;
  readonly mayAsk: MayAsk;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Our own authorization server: the library, on our stores, by our rules. */
export interface Facade {
  /** Made when somebody first asks for it: the library is loaded for nobody else. */
  provider(): Promise<Provider>;
}

export function createFacade(parts: FacadeParts): Facade {
  const flights = createSingleFlight<Provider>();
  let known: Provider | null = null;

  async function open(): Promise<Provider> {
    const { openProvider } = await import('./openProvider.ts');
    return (known = await openProvider(parts));
  }

  return {
    provider: async () => known ?? flights.run([], open, { detached: true }),
  };
}
