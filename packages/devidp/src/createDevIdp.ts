import { type Clock, type Random, systemClock, systemRandom } from '@behalf/kernel';
import type { JSONWebKeySet } from 'jose';
import type Provider from 'oidc-provider';
import { assertDevelopment, readIssuer } from './assertDevelopment.ts';
import { type DevAuthority, createDevAuthority } from './devAuthority.ts';
import type { DevClient, DevUser } from './directory.ts';
import { toProvenClaims } from './exchange/claimsRequest.ts';
import { createEntraDialect } from './exchange/entraDialect.ts';
import { createExchangeHandler } from './exchange/exchangeHandler.ts';
import { createOAuthDialect } from './exchange/oauthDialect.ts';
import { type RequestLog, type WritableRequestLog, createRequestLog } from './exchange/requestLog.ts';
import type { DevResource } from './exchange/resources.ts';
import { createRefreshTokenVerifier, createSubjectVerifier } from './exchange/subjects.ts';
import { type FaultSwitches, createFaultSwitchBoard } from './exchange/switches.ts';
import { type Listener, closeListener, createListener, startListening } from './listener.ts';
import { Provider as OidcProvider, createMemoryAdapter } from './oidcProvider.ts';
import {
  type TenantAddresses,
  createProviderConfiguration,
  createTenantAddresses,
  createTenantConfiguration,
} from './providerConfiguration.ts';
import { createRequestListener } from './requestListener.ts';
import { createDevKeyRing } from './signingKeys.ts';
import { type TokenMinter, createTokenMinter } from './tokenMinter.ts';

export interface DevIdpOptions {
  /** True if NODE_ENV is `production`: the start fails. */
  isProduction: boolean;
  /** 0 selects a free port. */
  port: number;
  /** A loopback address. */
  host?: string;
  /** The issuer, a loopback origin. Default: the listen address. */
  issuer?: string;
  /** Serves HTTPS with a new certificate authority, or with the given one. */
  https?: true | { ca: DevAuthority };
  users: readonly DevUser[];
  clients: readonly DevClient[];
  /** `aud` of the access tokens of sign-ins. */
  audience: string;
  /** Further audiences that clients may request as `resource`. */
  isAllowedResource?: (uri: string) => boolean;
  /** Allows dynamic client registration (RFC 7591), which MCP clients use. */
  allowsRegistration?: boolean;
  /** Scopes of the audience's API. */
  scopes?: readonly string[];
  /** The targets of token exchanges. */
  resources?: readonly DevResource[];
  /** Adds a tenant with URLs and responses in the form of Entra, for the same users. */
  tenant?: string;
  /** The RFC 8693 error for an invalid subject token. Default: `invalid_request`. */
  subjectTokenError?: 'invalid_request' | 'invalid_grant';
  /** Issues opaque access tokens at sign-in, which require introspection (RFC 7662). */
  usesOpaqueTokens?: boolean;
  accessTokenLifetimeSeconds?: number;
  /** Lifetime of ID tokens. Default: that of access tokens. */
  idTokenLifetimeSeconds?: number;
  /** Whether an exchange of a refresh token rotates it. */
  shouldRotateOnExchange?: boolean;
  /** The clock of minted and exchanged tokens. Sign-ins use the system clock, which the library reads itself. */
  clock?: Clock;
  random?: Random;
  onError?: (error: unknown) => void;
}

export interface DevIdp {
  readonly issuer: string;
  /** Accepts both exchange grants: RFC 8693 and RFC 7523. */
  readonly tokenEndpoint: string;
  readonly tokens: TokenMinter;
  /** With `tenant`: the URLs in the form of Entra, and a minter for its tokens. */
  readonly entra: (TenantAddresses & { readonly tokens: TokenMinter }) | undefined;
  /** With `https`: the certificate authority. */
  readonly ca: DevAuthority | undefined;
  readonly switches: FaultSwitches;
  readonly requestLog: RequestLog;
  /** All issuer identifiers. */
  readonly issuers: readonly string[];
  /** The published keys. */
  getPublicKeys(): JSONWebKeySet;
  /** A request in progress may still be signed with the old key. */
  rotateKeys(options: { keepOld: boolean }): Promise<{ kid: string }>;
  close(): Promise<void>;
}

/** Starts a development identity provider. */
export async function createDevIdp(options: DevIdpOptions): Promise<DevIdp> {
  const { isProduction, port, host = '127.0.0.1', users, clients, audience, resources = [] } = options;
  assertDevelopment({ isProduction, host });
  const fixedIssuer = options.issuer === undefined ? undefined : readIssuer(options.issuer);
  const { clock = systemClock, random = systemRandom, onError = () => undefined } = options;
  const scopes = options.scopes ?? ['access_as_user'];
  const lifetimeSeconds = options.accessTokenLifetimeSeconds ?? 3600;

  const keys = await createDevKeyRing(random);
  const ca = options.https === true ? await createDevAuthority() : options.https?.ca;
  const server = createListener(await ca?.issue());
  const listenUrl = await startListening(server, port, host);
  const issuer = fixedIssuer?.origin ?? listenUrl.origin;
  const tokenEndpoint = `${issuer}/token`;

  const switches = createFaultSwitchBoard(clock);
  const requestLog = createRequestLog();
  const stepUps = createStepUps(requestLog);
  const { getProvenClaims } = stepUps;
  const { isAllowedResource = () => false, allowsRegistration = false, usesOpaqueTokens = false } = options;
  const { idTokenLifetimeSeconds = lifetimeSeconds } = options;
  const parts = {
    ...{ users, clients, audience, isAllowedResource, allowsRegistration, scopes, keys, getProvenClaims },
    ...{ lifetimeSeconds, idTokenLifetimeSeconds, usesOpaqueTokens },
  };
  const persistentParts = { adapter: createMemoryAdapter(), cookieKey: random.id() };
  // The library reads its keys once. A rotation creates new instances that share records and cookies.
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
    const createdProviders: Provider[] = tenantProvider ? [baseProvider, tenantProvider] : [baseProvider];
    for (const provider of createdProviders) {
      provider.on('server_error', (_ctx, error) => onError(error));
      stepUps.observe(provider);
    }
    return { base: baseProvider, tenant: tenantProvider ?? baseProvider, entra };
  };
  let providers = await closeOnFailure(server, createProviders);
  const { entra } = providers;

  const issuers = entra ? [issuer, entra.issuer] : [issuer];
  const subjectVerifier = createSubjectVerifier({ keys, users, issuers, clock });
  const dialectParts = { clients, resources, subjectVerifier, clock };
  const subjectTokenError = options.subjectTokenError ?? 'invalid_request';
  const verifyRefreshToken = createRefreshTokenVerifier({
    ...{ users, adapter: persistentParts.adapter, getProvider: () => providers.base },
    shouldRotate: options.shouldRotateOnExchange ?? false,
  });
  const dialect = createOAuthDialect({
    ...dialectParts,
    issuer,
    tokenEndpoint,
    subjectTokenError,
    verifyRefreshToken,
  });

  const hosts = new Set([new URL(issuer).host, listenUrl.host, `localhost:${listenUrl.port}`]);
  const isAllowedHost = (value: string | undefined) => value !== undefined && hosts.has(value);
  server.on(
    'request',
    createRequestListener({
      base: { getProvider: () => providers.base, dialect },
      entra: entra && {
        tenant: entra.tenant,
        getProvider: () => providers.tenant,
        dialect: createEntraDialect({ ...dialectParts, ...entra }),
      },
      handleExchange: createExchangeHandler({ keys, clock, random, lifetimeSeconds, switches, requestLog }),
      ...{ switches, users, isAllowedHost, onError },
    }),
  );

  const tokenParts = { ...parts, clock, random };
  return {
    ...{ issuer, tokenEndpoint, issuers, ca, switches, requestLog: requestLog },
    tokens: createTokenMinter({ ...tokenParts, issuer }),
    entra: entra && {
      ...entra,
      tokens: createTokenMinter({ ...tokenParts, issuer: entra.issuer, tenant: entra.tenant }),
    },
    getPublicKeys: () => ({
      keys: keys.listPublished().map(({ kid, publicKey }) => ({
        ...(publicKey.export({ format: 'jwk' }) as { kty: string }),
        ...{ kid, alg: 'RS256', use: 'sig' },
      })),
    }),
    async rotateKeys(rotationOptions) {
      const { kid } = await keys.rotate(rotationOptions);
      providers = createProviders();
      return { kid };
    },
    close: () => closeListener(server),
  };
}

/** Closes the server if the library rejects the configuration. */
async function closeOnFailure<T>(server: Listener, create: () => T): Promise<T> {
  try {
    return create();
  } catch (error) {
    await closeListener(server);
    throw error;
  }
}

type ProvenClaims = Readonly<Record<string, readonly string[]>>;

/** Any sign-in with a challenge satisfies it: without passwords there are no second factors. */
function createStepUps(requestLog: WritableRequestLog) {
  const claimsByUser = new Map<string, ProvenClaims>();
  return {
    getProvenClaims: (userId: string): ProvenClaims => claimsByUser.get(userId) ?? {},
    observe(provider: Provider): void {
      provider.on('authorization.success', ({ oidc }) => {
        const { client_id: client, claims, prompt } = oidc.params ?? {};
        const user = oidc.session?.accountId;
        const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
        requestLog.addSignIn({ client: text(client), user, claims: text(claims), prompt: text(prompt) });
        if (user === undefined || typeof claims !== 'string') return;
        claimsByUser.set(user, { ...claimsByUser.get(user), ...toProvenClaims(claims) });
      });
    },
  };
}
