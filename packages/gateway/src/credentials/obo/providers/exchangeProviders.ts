import type { Clock, Fetch, Random } from '@behalf/kernel';
import { LOGIN_PROVIDER, type ProviderSettings } from '@behalf/settings';
import type { Log } from '../../../upstream/upstream.ts';
import type { ExchangeProvider } from '../exchangeProvider.ts';
import { createEntraProvider } from './entra.ts';
import { createIdJagProvider } from './idJag.ts';
import { type ReadTextFile, createActorToken, createProviderClient } from './providerClient.ts';
import {
  type EffectiveSettings,
  type LoginClient,
  resolveProviderSettings,
  resolveResourceServers,
} from './providerSettings.ts';
import { createJwtBearerProvider } from './rfc7523.ts';
import { createTokenExchangeProvider } from './rfc8693.ts';

/** The `obo` section of a server definition selects a provider with these fields. */
export interface ProviderChoice {
  readonly provider?: string | undefined;
  readonly grant?: 'jwt-bearer' | 'token-exchange' | undefined;
  /** For `id-jag`: the issuer of one of its authorization servers. */
  readonly audience?: string | undefined;
}

export interface ExchangeProviders {
  /** Returns the same provider for the same choice. Undefined if no provider has this name, or no login is configured. */
  find(choice: ProviderChoice): ExchangeProvider | undefined;
  /**
   * Reads all credential and actor files once. The cache keys then depend on the content of the files, so tokens that were cached
   * before a restart are found again. Never rejects.
   */
  prepare(): Promise<void>;
}

interface ExchangeProvidersParts {
  readonly providers: readonly ProviderSettings[];
  /** The login client. Null if no login is configured. */
  readonly login: LoginClient | null;
  /** The guarded fetch of the egress: no redirects, limited in time and size. */
  readonly fetchFor: (options: { readonly caFile: string | undefined }) => Fetch;
  readonly readText: ReadTextFile;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export function createExchangeProviders(parts: ExchangeProvidersParts): ExchangeProviders {
  const { providers, login, fetchFor, readText, clock, random, log } = parts;
  const entries = new Map(
    [...resolveProviderSettings(providers, login)].map(([name, settings]) => [name, createEntry(settings)]),
  );

  function createEntry(settings: EffectiveSettings) {
    const fetch = fetchFor({ caFile: settings.caFile });
    return {
      ...{ settings, fetch, clock, random },
      client: createProviderClient({ settings, fetch, readText, clock, random }),
      actor: createActorToken(settings, readText),
      providersByKey: new Map<string, ExchangeProvider>(),
      resourceServers: resolveResourceServers(settings).map((server) => {
        const { issuer, clientId, caFile } = server;
        const serverFetch = fetchFor({ caFile });
        const clientParts = { settings: server, fetch: serverFetch, readText, clock, random };
        return { issuer, clientId, client: createProviderClient(clientParts) };
      }),
    };
  }

  function createProvider(
    entry: ReturnType<typeof createEntry>,
    kind: ProviderSettings['type'],
    audience: string | undefined,
  ): ExchangeProvider {
    switch (kind) {
      case 'entra':
        return createEntraProvider(entry);
      case 'id-jag':
        return createIdJagProvider({ ...entry, audience });
      case 'jwt-bearer':
        return createJwtBearerProvider(entry);
      case 'token-exchange':
        return createTokenExchangeProvider(entry);
    }
  }

  return {
    find({ provider: name = LOGIN_PROVIDER, grant, audience }) {
      const entry = entries.get(name);
      if (!entry) return undefined;
      const { providersByKey, settings } = entry;
      const { type } = settings;
      // `obo.grant` replaces the type, except for `id-jag`, which always has two steps, and for `entra` with
      // `jwt-bearer`, which its exchange already is.
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
      const pendingReads = [...entries.values()].flatMap(({ settings, client, actor, resourceServers }) => {
        const clients = [client, ...resourceServers.map((server) => server.client)];
        const reads = [...clients.map((one) => one.readCredential()), actor.read()];
        // Each exchange reads the file again and reports the failure to its caller.
        return reads.map((read: Promise<unknown>) =>
          read.catch(() => log('obo_credential_unreadable', { provider: settings.name })),
        );
      });
      await Promise.all(pendingReads);
    },
  };
}
