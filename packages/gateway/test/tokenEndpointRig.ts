import { createHash } from 'node:crypto';
import { HiddenText, createRandom, type Fetch } from '@behalf/kernel';
import type { ProviderSettings } from '@behalf/settings';
import { createFakeClock, createTestNetwork, type FakeClock } from '@behalf/testkit';
import type {
  ExchangeFault,
  ExchangeProvider,
  ExchangeRequest,
  ExchangeResource,
  ExchangedToken,
} from '../src/credentials/obo/exchangeProvider.ts';
import type { LoginClient } from '../src/credentials/obo/providers/providerSettings.ts';
import {
  createExchangeProviders,
  type ExchangeProviders,
  type ProviderChoice,
} from '../src/credentials/obo/providers/exchangeProviders.ts';
import { startTokenEndpoint, type TestTokenEndpoint } from './tokenEndpoint.ts';

/** What a test asks for, besides what every request has. */
export interface ExchangeOverrides extends Partial<Omit<ExchangeRequest, 'subject'>> {
  readonly user?: string;
}

export interface TokenEndpointRig {
  readonly endpoint: TestTokenEndpoint;
  readonly clock: FakeClock;
  /** What the gateway's machine holds. */
  readonly files: Map<string, string>;
  /** Every address that a request left for. */
  readonly requests: string[];
  readonly logged: string[];
  /** Of which `caFile` a door out was made. */
  readonly caFiles: (string | undefined)[];
  /** In place of the door out to the endpoint. */
  fetch: Fetch;
  providers(declaredProviders: readonly ProviderSettings[], login?: LoginClient | null): ExchangeProviders;
  /** One declared provider at this endpoint. */
  provider(settings: Omit<ProviderSettings, 'name'>, choice?: ProviderChoice): ExchangeProvider;
  close(): Promise<void>;
}

export async function createTokenEndpointRig(): Promise<TokenEndpointRig> {
  const endpoint = await startTokenEndpoint();
  const clock = createFakeClock();
  const network = createTestNetwork([endpoint.port]);
  const endpointFetch = network.fetchTo({ url: endpoint.origin, audience: 'identity' });
  let count = 0;
  const rig: TokenEndpointRig = {
    endpoint,
    clock,
    files: new Map(),
    requests: [],
    logged: [],
    caFiles: [],
    fetch: endpointFetch,
    providers(declaredProviders, login = null) {
      return createExchangeProviders({
        providers: declaredProviders,
        login,
        fetchFor({ caFile }) {
          rig.caFiles.push(caFile);
          return (url, init) => {
            rig.requests.push(String(url));
            return rig.fetch(url, init);
          };
        },
        readText: async (file) => {
          const text = rig.files.get(file);
          if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
          return text;
        },
        clock,
        // Each id another one, and the same ones in every run.
        random: createRandom((length) =>
          createHash('shake256', { outputLength: length })
            .update(`${(count += 1)}`)
            .digest(),
        ),
        log: (event, fields) => void rig.logged.push([event, ...Object.values(fields)].join(' ')),
      });
    },
    provider(settings, choice = {}) {
      return rig.providers([{ name: 'p', ...settings }]).find({ provider: 'p', ...choice })!;
    },
    async close() {
      await network.close();
      await endpoint.close();
    },
  };
  return rig;
}

export function createExchangeRequest({
  user = 'ada',
  ...overrides
}: ExchangeOverrides = {}): ExchangeRequest {
  const token = `subject-token-of-${user}`;
  return {
    subject: {
      issuer: 'https://login.example',
      subject: user,
      token: new HiddenText(token),
      hash: createHash('sha256').update(token).digest('base64url'),
      expiresAt: Number.MAX_SAFE_INTEGER,
      via: 'session',
    },
    scopes: ['api://files/read'],
    audience: undefined,
    resource: undefined,
    targetServer: createExchangeResource(),
    claims: undefined,
    ...overrides,
  };
}

/** A server that publishes these authorization servers. */
export function createExchangeResource(servers: readonly string[] = []): ExchangeResource {
  return { url: 'https://files.example/mcp', authorizationServers: async () => servers };
}

export function runExchange(
  provider: ExchangeProvider,
  overrides: ExchangeOverrides = {},
): Promise<ExchangedToken> {
  return provider.exchange(createExchangeRequest(overrides), new AbortController().signal);
}

/** How an exchange failed. One that gives a token is the test's failure. */
export async function expectExchangeFault(outcome: Promise<unknown>): Promise<ExchangeFault> {
  const fault = await outcome.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(fault instanceof Error) || fault.name !== 'ExchangeFault')
    throw new Error('no fault', { cause: fault });
  return fault as ExchangeFault;
}
