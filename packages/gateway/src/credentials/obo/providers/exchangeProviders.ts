import type { Clock, Fetch, Random } from '@behalf/kernel';
import type { ProviderSettings } from '@behalf/settings';
import type { Log } from '../../../upstream/upstream.ts';
import type { ExchangeProvider } from '../exchangeProvider.ts';
import { type ReadTextFile, createActorToken, createClientCredential } from './clientCredential.ts';
import {
  type EffectiveSettings,
  LOGIN_PROVIDER,
  type LoginClient,
  type ProviderParts,
  resolveProviderSettings,
  resolveResourceServers,
} from './providerSettings.ts';
import { createEndpointSource } from './endpointSource.ts';
import { createEntraProvider } from './entra.ts';
import { createFormProvider } from './formProvider.ts';
import { createIdJagProvider, type ResourceServerClient } from './idJag.ts';
import type { PostGrantParts } from './tokenRequest.ts';

type FormGrant = 'jwt-bearer' | 'token-exchange';

/** As a server names it. */
export interface ProviderChoice {
  readonly provider?: string | undefined;
  readonly grant?: FormGrant | undefined;
  /** Of an `id-jag` entry with several authorization servers, which one. */
  readonly audience?: string | undefined;
}

export interface ExchangeProviders {
  /** The same one for the same choice. Undefined when there is none of that name, or no login. */
  find(choice: ProviderChoice): ExchangeProvider | undefined;
  /** Reads the files of keys and actors once, so that what was cached before a start still counts. Never rejects. */
  prepare(): Promise<void>;
}

interface ExchangeProvidersParts {
  readonly providers: readonly ProviderSettings[];
  /** The client people sign in with; null where nobody does. */
  readonly login: LoginClient | null;
  /** The guarded door out: no redirects, bounded in time and size. */
  readonly fetchFor: (options: { readonly caFile: string | undefined }) => Fetch;
  readonly readText: ReadTextFile;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

interface Entry extends ProviderParts {
  /** By what is spoken to it. */
  readonly providersByKey: Map<string, ExchangeProvider>;
  readonly resourceServers: readonly ResourceServerClient[];
}

export function createExchangeProviders(parts: ExchangeProvidersParts): ExchangeProviders {
  const { providers, login, fetchFor, readText, clock, random, log } = parts;
  const entries = new Map(
    [...resolveProviderSettings(providers, login)].map(([name, settings]) => [name, createEntry(settings)]),
  );

  /** Who we are at one token endpoint. */
  function grantPartsFor(settings: EffectiveSettings): PostGrantParts {
    const fetch = fetchFor({ caFile: settings.caFile });
    return {
      ...{ settings, fetch, clock, random },
      endpoint: createEndpointSource({ settings, fetch, clock }),
      credential: createClientCredential(settings, readText),
    };
  }

  function createEntry(settings: EffectiveSettings): Entry {
    return {
      ...grantPartsFor(settings),
      actor: createActorToken(settings, readText),
      providersByKey: new Map(),
      resourceServers: resolveResourceServers(settings).map((server) => {
        const { issuer = '', clientId = '' } = server;
        return { ...grantPartsFor(server), issuer, clientId };
      }),
    };
  }

  function createProvider(
    entry: Entry,
    kind: ProviderSettings['type'],
    audience: string | undefined,
  ): ExchangeProvider {
    if (kind === 'entra') return createEntraProvider(entry);
    return kind === 'id-jag' ? createIdJagProvider({ ...entry, audience }) : createFormProvider(entry, kind);
  }

  return {
    find({ provider: name = LOGIN_PROVIDER, grant, audience }) {
      const entry = entries.get(name);
      if (!entry) return undefined;
      const { providersByKey, settings } = entry;
      const { type } = settings;
      // Entra's own exchange is a jwt-bearer grant already.
      const usesDeclaredType =
        grant === undefined || type === 'id-jag' || (type === 'entra' && grant === 'jwt-bearer');
      const kind = usesDeclaredType ? type : grant;
      const key = kind === 'id-jag' && audience !== undefined ? `${kind} ${audience}` : kind;
      const existing = providersByKey.get(key);
      if (existing) return existing;
      const provider = createProvider(entry, kind, audience);
      providersByKey.set(key, provider);
      return provider;
    },
    async prepare() {
      const pendingReads = [...entries.values()].flatMap(({ settings, credential, actor, resourceServers }) =>
        [credential, actor, ...resourceServers.map((server) => server.credential)].map((source) =>
          // What cannot be read now is read again for each exchange, which then says so.
          source.read().catch(() => log('obo_credential_unreadable', { provider: settings.name })),
        ),
      );
      await Promise.all(pendingReads);
    },
  };
}
