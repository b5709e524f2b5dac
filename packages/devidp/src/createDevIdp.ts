import { systemClock, systemRandom, type Clock, type Random } from '@behalf/kernel';
import type { JSONWebKeySet } from 'jose';
import type Provider from 'oidc-provider';
import type { DevClient } from './clients.ts';
import { createProviderConfiguration } from './providerConfiguration.ts';
import { readIssuer, assertDevelopment } from './assertDevelopment.ts';
import { createEntraDialect } from './exchange/entraDialect.ts';
import { createExchangeHandler } from './exchange/exchangeHandler.ts';
import { createOAuthDialect } from './exchange/oauthDialect.ts';
import { createRefreshSubjects } from './exchange/refreshSubjects.ts';
import { createRequestLog, type RequestLog } from './exchange/requestLog.ts';
import type { DevResource } from './exchange/resources.ts';
import { createSubjects } from './exchange/subjects.ts';
import { createFaultSwitchBoard, type FaultSwitches } from './exchange/switches.ts';
import { closeListener, createListener, startListening, type Listener } from './listener.ts';
import { createMemoryAdapter } from './memoryAdapter.ts';
import { Provider as OidcProvider } from './oidcProvider.ts';
import { createRequestListener } from './requestListener.ts';
import { createDevKeyRing } from './signingKeys.ts';
import { createStepUps } from './stepUps.ts';
import { createTenantAddresses, createTenantConfiguration, type TenantAddresses } from './tenant.ts';
import { createDevAuthority, type DevAuthority } from './tls/devAuthority.ts';
import { createTokenMinter, type TokenMinter } from './tokenMinter.ts';
import type { DevUser } from './users.ts';

export interface DevIdpOptions {
  /** True where NODE_ENV says so: nothing starts then. */
  production: boolean;
  /** 0: any free one. */
  port: number;
  /** A loopback address. */
  host?: string;
  /** What it calls itself, an origin on loopback; the address it listens on if absent. */
  issuer?: string;
  /** Serves https: with a certificate authority made for it, or with one that others use too. */
  https?: true | { ca: DevAuthority };
  users: readonly DevUser[];
  clients: readonly DevClient[];
  /** `aud` of every access token that a login gives. */
  audience: string;
  /** Other audiences, which clients name by their address. */
  isAllowedResource?: (uri: string) => boolean;
  /** Whether clients may register themselves (RFC 7591), as MCP clients like to. */
  registration?: boolean;
  /** Scopes of the audience's API that a client may ask for. */
  scopes?: readonly string[];
  /** What tokens are exchanged for. */
  resources?: readonly DevResource[];
  /** Adds a directory with addresses and answers as Entra has them, for the same users. */
  tenant?: string;
  /** How RFC 8693 answers a subject token that does not hold; `invalid_request` if absent. */
  subjectError?: 'invalid_request' | 'invalid_grant';
  /** Access tokens of sign-ins that say nothing themselves: the provider is asked about them (RFC 7662). */
  opaqueTokens?: boolean;
  accessTokenSeconds?: number;
  /** Of ID tokens; as access tokens if absent. */
  idTokenSeconds?: number;
  /** Whether an exchange for a refresh token uses it up and gives another. */
  rotateOnExchange?: boolean;
  /** The time in minted and exchanged tokens. A login follows the system's clock, which the library reads itself. */
  clock?: Clock;
  random?: Random;
  onError?: (error: unknown) => void;
}

export interface DevIdp {
  readonly issuer: string;
  /** Both grants that exchange: RFC 8693 and RFC 7523. */
  readonly tokenEndpoint: string;
  readonly tokens: TokenMinter;
  /** With a `tenant`: the addresses as Entra has them, and tokens that were issued there. */
  readonly entra: (TenantAddresses & { readonly tokens: TokenMinter }) | undefined;
  /** With `https`: who vouches for it. */
  readonly ca: DevAuthority | undefined;
  readonly switches: FaultSwitches;
  readonly requests: RequestLog;
  /** Every name under which it issues. */
  readonly issuers: readonly string[];
  /** As it publishes them. */
  publicKeys(): JSONWebKeySet;
  /** A request that is being answered may still be signed with the old key. */
  rotateKeys(options: { keepOld: boolean }): Promise<{ kid: string }>;
  close(): Promise<void>;
}

/** A development identity provider, listening. */
export async function createDevIdp(options: DevIdpOptions): Promise<DevIdp> {
  const { production, port, host = '127.0.0.1', users, clients, audience, resources = [] } = options;
  assertDevelopment({ production, host });
  const fixedIssuer = options.issuer === undefined ? undefined : readIssuer(options.issuer);
  const { clock = systemClock, random = systemRandom, onError = () => undefined } = options;
  const scopes = options.scopes ?? ['access_as_user'];
  const lifetimeSeconds = options.accessTokenSeconds ?? 3600;

  const keys = await createDevKeyRing(random);
  const ca = options.https === true ? await createDevAuthority() : options.https?.ca;
  const server = createListener(await ca?.issue());
  const listening = await startListening(server, port, host);
  const issuer = fixedIssuer?.origin ?? listening.origin;
  const tokenEndpoint = `${issuer}/token`;

  const switches = createFaultSwitchBoard(clock);
  const log = createRequestLog();
  const stepUps = createStepUps(log);
  const { getProvenClaims } = stepUps;
  const { isAllowedResource = () => false, registration = false, opaqueTokens = false } = options;
  const { idTokenSeconds = lifetimeSeconds } = options;
  const parts = {
    ...{ users, clients, audience, isAllowedResource, registration, scopes, keys, getProvenClaims },
    ...{ lifetimeSeconds, idTokenSeconds, opaqueTokens },
  };
  const persistentParts = { adapter: createMemoryAdapter(), cookieKey: random.id() };
  // The library takes its keys once. A rotation makes other instances of it, around the same records and cookies.
  const createProviders = () => {
    const entra = options.tenant === undefined ? undefined : createTenantAddresses(issuer, options.tenant);
    const baseProvider = new OidcProvider(
      issuer,
      createProviderConfiguration({ ...parts, ...persistentParts }),
    );
    const tenantProvider =
      entra &&
      new OidcProvider(
        entra.issuer,
        createTenantConfiguration({ ...parts, ...persistentParts, tenant: entra.tenant }),
      );
    const created: Provider[] = tenantProvider ? [baseProvider, tenantProvider] : [baseProvider];
    for (const provider of created) {
      provider.on('server_error', (_ctx, error) => onError(error));
      stepUps.observe(provider);
    }
    return { plain: baseProvider, inTenant: tenantProvider ?? baseProvider, entra };
  };
  let providers = await closeOnFailure(server, createProviders);
  const { entra } = providers;

  const issuers = entra ? [issuer, entra.issuer] : [issuer];
  const subjects = createSubjects({ keys, users, issuers, clock });
  const dialectParts = { clients, resources, subjects, clock };
  const subjectError = options.subjectError ?? 'invalid_request';
  const proveRefreshToken = createRefreshSubjects({
    ...{ users, adapter: persistentParts.adapter, provider: () => providers.plain },
    shouldRotate: options.rotateOnExchange ?? false,
  });
  const dialect = createOAuthDialect({
    ...dialectParts,
    issuer,
    tokenEndpoint,
    subjectError,
    proveRefreshToken,
  });

  const hosts = new Set([new URL(issuer).host, listening.host, `localhost:${listening.port}`]);
  const isOwnHost = (value: string | undefined) => value !== undefined && hosts.has(value);
  server.on(
    'request',
    createRequestListener({
      base: { provider: () => providers.plain, dialect },
      entra: entra && {
        tenant: entra.tenant,
        provider: () => providers.inTenant,
        dialect: createEntraDialect({ ...dialectParts, ...entra }),
      },
      handleExchange: createExchangeHandler({ keys, clock, random, lifetimeSeconds, switches, log }),
      ...{ switches, users, isOwnHost, onError },
    }),
  );

  const tokenParts = { ...parts, clock, random };
  return {
    ...{ issuer, tokenEndpoint, issuers, ca, switches, requests: log },
    tokens: createTokenMinter({ ...tokenParts, issuer }),
    entra: entra && {
      ...entra,
      tokens: createTokenMinter({ ...tokenParts, issuer: entra.issuer, tenant: entra.tenant }),
    },
    publicKeys: () => ({
      keys: keys.published().map(({ kid, publicKey }) => ({
        ...(publicKey.export({ format: 'jwk' }) as { kty: string }),
        ...{ kid, alg: 'RS256', use: 'sig' },
      })),
    }),
    async rotateKeys(choice) {
      const { kid } = await keys.rotate(choice);
      providers = createProviders();
      return { kid };
    },
    close: () => closeListener(server),
  };
}

/** A client that the library does not accept must not leave a server behind. */
async function closeOnFailure<T>(server: Listener, create: () => T): Promise<T> {
  try {
    return create();
  } catch (error) {
    await closeListener(server);
    throw error;
  }
}
