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
  /** Signs cookies. Shared by all instances, so that a key rotation ends no session. */
  cookieKey: string;
}

const DAY_S = 24 * 60 * 60;

/** The library's configuration. Sets all defaults explicitly to avoid its warnings. */
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
    // The library accepts only these scopes in a registration.
    scopes: ['openid', 'offline_access', 'email', 'profile', ...(allowsRegistration ? parts.scopes : [])],
    // Without a userinfo endpoint, the ID token contains all claims.
    conformIdTokenClaims: false,
    extraTokenClaims: createExtraTokenClaims(parts),
    formats: { customizers: { jwt: createScopeCustomizer(parts) } },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
      // Opaque tokens support introspection (RFC 7662) by confidential clients and revocation (RFC 7009).
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
    // Claims requests of APIs. The library's own support covers ID tokens only.
    extraParams: ['claims'],
    pkce: { required: () => true },
    clientBasedCORS: () => false,
    // The library requires a consent prompt for `offline_access`. Here, every client with the refresh grant
    // receives a refresh token.
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // Each refresh token is valid once, so that tests detect concurrent refreshes.
    rotateRefreshToken: true,
    cookies: {
      keys: [cookieKey],
      // Cookies ignore ports, so other applications on this machine receive them too.
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
  /** Allowed `resource` values (RFC 8707). The token is then for that resource only. */
  isAllowedResource?: (uri: string) => boolean;
  scopes: readonly string[];
  /** Whether access tokens are opaque. */
  usesOpaqueTokens: boolean;
  lifetimeSeconds: number;
  /** Claims that the user has proven in addition. */
  getProvenClaims: (userId: string) => Readonly<Record<string, unknown>>;
}

type ResourceIndicators = NonNullable<NonNullable<Configuration['features']>['resourceIndicators']>;

type JwtCustomizer = NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;

/**
 * Access tokens are JWTs (RFC 9068) unless opaque ones are configured. They are for the one audience, or for the
 * resource that a client names. The library requires a resource to be a URI; an audience may be any text.
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

/** Additional claims. App-only tokens are marked like Entra's, with `idtyp`. */
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

/** A user's token contains the delegated scopes; an app-only token has none. */
function createScopeCustomizer({ scopes }: AccessTokenParts): JwtCustomizer {
  return (_ctx, token, { payload }) => {
    if (token.kind === 'ClientCredentials') delete payload.scope;
    // Without a requested scope, a client receives all of them, like `.default` of Entra.
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

/** Grants all requested scopes without a consent page. */
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

/** The URLs of a tenant in the form of Entra. */
export interface TenantAddresses {
  readonly tenant: string;
  /** `<origin>/<tenant>/v2.0`. */
  readonly issuer: string;
  /** `<origin>/<tenant>`, the authority for Entra's libraries. */
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

/** Maps a path below the tenant to the provider's path; undefined if it is not below this tenant. */
export function stripTenantPrefix(url: string, tenant: string): string | undefined {
  const prefix = `/${tenant}/`;
  if (!url.startsWith(prefix)) return undefined;
  const path = url.slice(prefix.length - 1);
  // The metadata is below the issuer; the other endpoints are not.
  return path.startsWith(`/v2.0${DISCOVERY_PATH}`) ? path.slice('/v2.0'.length) : path;
}

interface TenantParts extends DevIdpConfigurationParts {
  tenant: string;
}

/** The same sign-in with a tenant's URLs and Entra's access tokens. */
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
