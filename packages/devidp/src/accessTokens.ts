import { parseUrl } from '@behalf/contracts';
import type { Configuration } from 'oidc-provider';
import type { DevClient } from './clients.ts';
import { errors } from './oidcProvider.ts';
import { toAuthorityClaims, findUser, type DevUser } from './users.ts';

export interface AccessTokenParts {
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
export function createResourceIndicators(parts: AccessTokenParts): ResourceIndicators {
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
export function createExtraTokenClaims({
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
export function createScopeCustomizer({ scopes }: AccessTokenParts): JwtCustomizer {
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
