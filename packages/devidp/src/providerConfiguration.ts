import { parseUrl } from '@behalf/contracts';
import type { Configuration } from 'oidc-provider';
import {
  type DevClient,
  type DevUser,
  findUser,
  toAuthorityClaims,
  toClientMetadata,
  toEntraClaims,
  toProfileClaims,
} from './directory.ts';
import { type createMemoryAdapter, errors } from './oidcProvider.ts';
import { pageHeaders, renderErrorPage, renderSignOutPage, renderSignedOutPage } from './pages.ts';
import type { DevKeyRing } from './signingKeys.ts';

interface DevIdpConfigurationParts extends AccessTokenParts {
  keys: DevKeyRing;
  allowsRegistration: boolean;
  idTokenLifetimeSeconds: number;
  adapter: ReturnType<typeof createMemoryAdapter>;
  /** Signs the cookies; the same for every instance, so that a rotation signs nobody out. */
  cookieKey: string;
}

const DAY_S = 24 * 60 * 60;

/** The provider as the library takes it. Every default that it warns about is said here, so that it has nothing to say. */
export function createProviderConfiguration(parts: DevIdpConfigurationParts): Configuration {
  const { users, clients, keys, adapter, cookieKey, lifetimeSeconds, allowsRegistration } = parts;
  return {
    adapter,
    jwks: keys.jwks(),
    clients: clients.map(toClientMetadata),
    findAccount: (_ctx, id) => {
      const user = findUser(users, id);
      const claims = user && { sub: id, ...toProfileClaims(user), ...toAuthorityClaims(user) };
      return claims && { accountId: id, claims: () => claims };
    },
    claims: {
      openid: ['sub', 'roles', 'groups', 'tid'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username'],
    },
    // Who registers also names the scopes of the API, and the library knows none but these.
    scopes: ['openid', 'offline_access', 'email', 'profile', ...(allowsRegistration ? parts.scopes : [])],
    // There is no userinfo endpoint: all access tokens are for the gateway, and the ID token says everything.
    conformIdTokenClaims: false,
    extraTokenClaims: createExtraTokenClaims(parts),
    formats: { customizers: { jwt: createScopeCustomizer(parts) } },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
      // Opaque tokens are asked about (RFC 7662), by clients that have a secret; and they can be ended (RFC 7009).
      introspection: {
        enabled: parts.usesOpaqueTokens,
        allowedPolicy: (_ctx, client) => client.clientAuthMethod !== 'none',
      },
      revocation: {
        enabled: parts.usesOpaqueTokens,
        allowedPolicy: (_ctx, client, token) => client.clientId === token.clientId,
      },
      registration: { enabled: allowsRegistration },
      resourceIndicators: createResourceIndicators(parts),
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          ctx.set(pageHeaders);
          ctx.body = renderSignOutPage(form);
        },
        postLogoutSuccessSource: (ctx) => {
          ctx.set(pageHeaders);
          ctx.body = renderSignedOutPage();
        },
      },
    },
    renderError: (ctx, { error, error_description: description }) => {
      ctx.set(pageHeaders);
      ctx.body = renderErrorPage(error, description);
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: grantAllScopes,
    responseTypes: ['code'],
    // A challenge from an API; the library's own reading of it knows ID tokens only.
    extraParams: ['claims'],
    pkce: { required: () => true },
    clientBasedCORS: () => false,
    // The library drops `offline_access` unless consent is prompted for; who may refresh gets a refresh token here.
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // Used once each, so that two refreshes at the same time show.
    rotateRefreshToken: true,
    cookies: {
      keys: [cookieKey],
      // Cookies do not know ports: other applications on this machine see them too.
      names: { session: 'devidp_session', interaction: 'devidp_interaction', resume: 'devidp_resume' },
    },
    ttl: {
      AccessToken: lifetimeSeconds,
      ClientCredentials: lifetimeSeconds,
      IdToken: parts.idTokenLifetimeSeconds,
      AuthorizationCode: 60,
      Interaction: 60 * 60,
      RefreshToken: DAY_S,
      Session: DAY_S,
      Grant: DAY_S,
    },
  };
}

interface AccessTokenParts {
  users: readonly DevUser[];
  clients: readonly DevClient[];
  audience: string;
  /** Addresses that a client may name as its resource (RFC 8707): the token is then for that one alone. */
  isAllowedResource?: (uri: string) => boolean;
  scopes: readonly string[];
  /** Whether access tokens say nothing themselves. */
  usesOpaqueTokens: boolean;
  lifetimeSeconds: number;
  /** What a user has proven beyond who they are. */
  getProvenClaims: (userId: string) => Readonly<Record<string, unknown>>;
}

type ResourceIndicators = NonNullable<NonNullable<Configuration['features']>['resourceIndicators']>;

type JwtCustomizer = NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;

/**
 * Every access token is a JWT (RFC 9068), unless opaque ones are asked for: for the one audience, whether or not a client names it as its resource, or for
 * the address that a client names. The library wants a resource to be a URI; an audience may be any text.
 */
function createResourceIndicators(parts: AccessTokenParts): ResourceIndicators {
  const { audience, scopes, usesOpaqueTokens, lifetimeSeconds, isAllowedResource = () => false } = parts;
  const resource = parseUrl(audience) ? audience : `urn:audience:${encodeURIComponent(audience)}`;
  return {
    enabled: true,
    defaultResource: () => resource,
    useGrantedResource: () => true,
    getResourceServerInfo(_ctx, requestedResource) {
      if (requestedResource !== resource && !isAllowedResource(requestedResource))
        throw new errors.InvalidTarget();
      return {
        audience: requestedResource === resource ? audience : requestedResource,
        scope: scopes.join(' '),
        accessTokenFormat: usesOpaqueTokens ? 'opaque' : 'jwt',
        accessTokenTTL: lifetimeSeconds,
        ...(!usesOpaqueTokens && { jwt: { sign: { alg: 'RS256' as const } } }),
      };
    },
  };
}

/** What is in the token beside RFC 9068's own claims. An app-only token says so, as Entra's does with `idtyp`. */
function createExtraTokenClaims({
  users,
  clients,
  getProvenClaims,
}: AccessTokenParts): NonNullable<Configuration['extraTokenClaims']> {
  return (_ctx, token) => {
    const azp = token.clientId;
    if (token.kind === 'AccessToken') {
      const user = findUser(users, token.accountId);
      return { azp, ...(user && { ...toAuthorityClaims(user), ...getProvenClaims(user.id) }) };
    }
    return { azp, ...toAppClaims(clients.find(({ id }) => id === azp)) };
  };
}

/** A user's token says what was delegated; an app-only one has no user and nothing delegated. */
function createScopeCustomizer({ scopes }: AccessTokenParts): JwtCustomizer {
  return (_ctx, token, { payload }) => {
    if (token.kind === 'ClientCredentials') delete payload.scope;
    // A client that names no scope of the API gets them all, as with Entra's `.default`.
    else payload.scope ??= scopes.join(' ');
  };
}

export function toAppClaims(client: DevClient | undefined) {
  const { appRoles, tenant } = client ?? {};
  return {
    idtyp: 'app',
    ...toAuthorityClaims({ ...(appRoles && { roles: appRoles }), ...(tenant !== undefined && { tenant }) }),
  };
}

/** Consent is not what is tested here: whatever a client asks for is granted, also when it asks for more than before. */
const grantAllScopes: NonNullable<Configuration['loadExistingGrant']> = async ({ oidc }) => {
  const { client, session, provider } = oidc;
  if (!client || session?.accountId === undefined) return undefined;
  const grantId = session.grantIdFor(client.clientId);
  const grant =
    (grantId === undefined ? undefined : await provider.Grant.find(grantId)) ??
    new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(oidc.requestParamOIDCScopes);
  grant.addOIDCClaims(oidc.requestParamClaims);
  for (const [resource, server] of Object.entries(oidc.resourceServers ?? {})) {
    grant.addResourceScope(resource, server.scope);
  }
  await grant.save();
  return grant;
};

/** A directory with addresses as Entra has them. */
export interface TenantAddresses {
  readonly tenant: string;
  /** `<origin>/<tenant>/v2.0`. */
  readonly issuer: string;
  /** `<origin>/<tenant>`: what Entra's libraries are told. */
  readonly authority: string;
  readonly tokenEndpoint: string;
}

export const TENANT_TOKEN_PATH = '/oauth2/v2.0/token';
const DISCOVERY_PATH = '/.well-known/openid-configuration';

export function createTenantAddresses(origin: string, tenant: string): TenantAddresses {
  if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(tenant) || tenant === 'dev' || tenant === 'interaction') {
    throw new Error(`${JSON.stringify(tenant)} is not a valid tenant name.`);
  }
  const authority = `${origin}/${tenant}`;
  return { tenant, authority, issuer: `${authority}/v2.0`, tokenEndpoint: authority + TENANT_TOKEN_PATH };
}

/** Where the provider finds what a path below the tenant asks for. Undefined: it is not below this tenant. */
export function stripTenantPrefix(url: string, tenant: string): string | undefined {
  const prefix = `/${tenant}/`;
  if (!url.startsWith(prefix)) return undefined;
  const path = url.slice(prefix.length - 1);
  // The metadata stands below the issuer, everything else beside it.
  return path.startsWith(`/v2.0${DISCOVERY_PATH}`) ? path.slice('/v2.0'.length) : path;
}

interface TenantParts extends DevIdpConfigurationParts {
  tenant: string;
}

/** The same login under a tenant's addresses, with access tokens as Entra writes them. */
export function createTenantConfiguration(parts: TenantParts): Configuration {
  const { users, tenant } = parts;
  const baseConfiguration = createProviderConfiguration(parts);
  return {
    ...baseConfiguration,
    routes: {
      authorization: '/oauth2/v2.0/authorize',
      token: TENANT_TOKEN_PATH,
      jwks: '/discovery/v2.0/keys',
      end_session: '/oauth2/v2.0/logout',
    },
    extraTokenClaims: async (ctx, token) => {
      const claims = await baseConfiguration.extraTokenClaims?.(ctx, token);
      const user = token.kind === 'AccessToken' ? findUser(users, token.accountId) : undefined;
      return { tid: tenant, ...claims, ver: '2.0', ...(user && toEntraClaims(user)) };
    },
    formats: {
      customizers: {
        async jwt(ctx, token, jwt) {
          await baseConfiguration.formats?.customizers?.jwt?.(ctx, token, jwt);
          const { payload } = jwt;
          if (payload.scope !== undefined) payload.scp = payload.scope;
          delete payload.scope;
        },
      },
    },
  };
}
