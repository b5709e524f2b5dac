import type { Clock, Fetch, Random } from '@behalf/kernel';
import type { ProviderSettings } from '@behalf/settings';
import type { Log } from '../../../upstream/parts.ts';
import type { ExchangeProvider } from '../exchangeProvider.ts';
import { createActorToken } from './actorToken.ts';
import { createClientCredential, type ReadText } from './clientCredential.ts';
import { effectiveSettings, LOGIN, type EffectiveSettings, type LoginClient } from './effectiveSettings.ts';
import { createEndpointSource } from './endpointSource.ts';
import { createEntraProvider } from './entraProvider.ts';
import { createFormProvider } from './formProvider.ts';
import type { ProviderParts } from './providerParts.ts';

type FormGrant = 'jwt-bearer' | 'token-exchange';

/** As a server names it. */
export interface ProviderChoice {
  readonly provider?: string | undefined;
  readonly grant?: FormGrant | undefined;
}

export interface ExchangeProviders {
  /** The same one for the same choice. Undefined when there is none of that name, or no login. */
  find(choice: ProviderChoice): ExchangeProvider | undefined;
  /** Reads the files of keys and actors once, so that what was cached before a start still counts. Never rejects. */
  prepare(): Promise<void>;
}

export interface ExchangeProvidersParts {
  readonly providers: readonly ProviderSettings[];
  /** The client people sign in with; null where nobody does. */
  readonly login: LoginClient | null;
  /** The guarded door out: no redirects, bounded in time and size. */
  readonly fetchFor: (options: { readonly caFile: string | undefined }) => Fetch;
  readonly readText: ReadText;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

interface Entry extends ProviderParts {
  /** By what is spoken to it. */
  readonly made: Map<ProviderSettings['type'], ExchangeProvider>;
}

export function createExchangeProviders(parts: ExchangeProvidersParts): ExchangeProviders {
  const { providers, login, fetchFor, readText, clock, random, log } = parts;
  const entries = new Map(
    [...effectiveSettings(providers, login)].map(([name, settings]) => [name, entryOf(settings)]),
  );

  function entryOf(settings: EffectiveSettings): Entry {
    const fetch = fetchFor({ caFile: settings.caFile });
    return {
      ...{ settings, fetch, clock, random },
      endpoint: createEndpointSource({ settings, fetch, clock }),
      credential: createClientCredential(settings, readText),
      actor: createActorToken(settings, readText),
      made: new Map(),
    };
  }

  return {
    find({ provider: name = LOGIN, grant }) {
      const entry = entries.get(name);
      if (!entry) return undefined;
      const { made, settings } = entry;
      const { type } = settings;
      // Entra's own exchange is a jwt-bearer grant already.
      const kind = grant === undefined || (type === 'entra' && grant === 'jwt-bearer') ? type : grant;
      const known = made.get(kind);
      if (known) return known;
      const provider = kind === 'entra' ? createEntraProvider(entry) : createFormProvider(entry, kind);
      made.set(kind, provider);
      return provider;
    },
    async prepare() {
      const read = [...entries.values()].flatMap(({ settings, credential, actor }) =>
        [credential, actor].map((source) =>
          // What cannot be read now is read again for each exchange, which then says so.
          source.read().catch(() => log('obo_credential_unreadable', { provider: settings.name })),
        ),
      );
      await Promise.all(read);
    },
  };
}
