import type { Configuration } from 'oidc-provider';
import {
  createExtraTokenClaims,
  createResourceIndicators,
  createScopeCustomizer,
  type AccessTokenParts,
} from './accessTokens.ts';
import { toClientMetadata } from './clients.ts';
import { grantAllScopes } from './consent.ts';
import type { createMemoryAdapter } from './memoryAdapter.ts';
import { renderErrorPage, renderSignedOutPage, renderSignOutPage } from './pages/resultPages.ts';
import { pageHeaders } from './pages/page.ts';
import type { DevKeyRing } from './signingKeys.ts';
import { toAuthorityClaims, findUser, toProfileClaims } from './users.ts';

export interface DevIdpConfigurationParts extends AccessTokenParts {
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
