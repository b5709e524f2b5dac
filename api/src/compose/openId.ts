import type { Env } from '@behalf/contracts';
import {
  type Audit,
  type CredentialVault,
  DEFAULT_TENANT,
  type LoginSource,
  type OpenIdSettings,
  type Roles,
  type SignInSessions,
  createPendingClaims,
} from '@behalf/gateway';
import type { IdJagIssuer } from '@behalf/gateway/authorization-server';
import {
  createBearerCallers,
  createBearerVerifier,
  createIntrospection,
  createLoginContexts,
  createLoginTokens,
  createOpenIdLogin,
  createProviderMetadata,
  createProvisioning,
  createSigningKeySource,
} from '@behalf/gateway/openid';
import type { RateLimits } from '../http/limits.ts';
import type { ClientAddressReader } from '../http/request.ts';
import type { EndpointResources } from '../http/resourceServer.ts';
import { openIdRoutes } from '../routes/oauth/openId.ts';
import { createOpenIdSessions } from '../routes/oauth/openIdSessions.ts';
import { findCaFile } from '../runtime/configuration.ts';
import type { ComposeContext } from './context.ts';

export type IdentityProvider = ReturnType<typeof composeIdentityProvider>;

/** The identity provider of OPENID_ISSUER: its metadata, its keys, and how the vault refreshes its tokens. */
export function composeIdentityProvider({ env, clock, log, primary, egress }: ComposeContext) {
  const settings = openIdSettings(env);
  if (!settings) throw new Error('OPENID_ISSUER is not set');
  const { identity: fetch } = egress;
  const metadata = createProviderMetadata({ settings, fetch, clock, log });
  const keys = createSigningKeySource({ metadata, fetch, clock, log });
  const grantContexts = createLoginContexts({ settings, metadata, users: primary.users, fetch });
  return { settings, metadata, keys, grantContexts };
}

interface OpenIdParts {
  readonly audit: Audit;
  readonly roles: Roles;
  readonly sessions: SignInSessions;
  readonly vault: CredentialVault;
  readonly endpoints: Pick<EndpointResources, 'isEndpoint'>;
  readonly limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  readonly clientAddressOf: ClientAddressReader;
}

export type OpenId = ReturnType<typeof composeOpenId>;

/** Bearer tokens of the identity provider, and sign-in in browsers. `browser` is null without a client id. */
export function composeOpenId(context: ComposeContext, provider: IdentityProvider, parts: OpenIdParts) {
  const { clock, random, keyring, log, logger, configuration, primary, coordination, egress, address } =
    context;
  const { settings, metadata, keys } = provider;
  const { audit, roles, sessions, endpoints, limits, clientAddressOf } = parts;
  const { identity: fetch } = egress;
  const roleExists = (tenant: string, name: string) => roles.exists(tenant, name);
  const provisioning = createProvisioning({
    users: primary.users,
    changes: coordination.changes,
    ...{ clock, random, roleExists, audit },
  });
  const bearers = createBearerCallers({
    verifier: createBearerVerifier({
      ...{ settings, keys, clock, log, isEndpoint: endpoints.isEndpoint },
      introspection: settings.introspection
        ? createIntrospection({ settings, metadata, fetch, clock, log })
        : null,
    }),
    ...{ provisioning, roleExists },
  });
  const loginTokens = createLoginTokens({ vault: parts.vault, settings, metadata, clock });
  const login: LoginSource = { issuer: settings.issuer, tokens: loginTokens };
  const pendingClaims = createPendingClaims({ cache: coordination.cache('openid-claims'), keyring, clock });

  /** Another issuer whose ID-JAGs are accepted. It has the settings of the login provider, and its own metadata and keys. */
  function openIdJagIssuer(issuer: string, tenant: string): IdJagIssuer {
    const otherSettings = { ...settings, issuer };
    const otherFetch = egress.identityTo({ caFile: findCaFile(configuration.current(), issuer) });
    const common = { fetch: otherFetch, clock, log };
    const otherMetadata = createProviderMetadata({ settings: otherSettings, ...common });
    const otherKeys = createSigningKeySource({ metadata: otherMetadata, ...common });
    return { keys: otherKeys, settings: otherSettings, tenant };
  }

  const common = {
    ...{ bearers, login, pendingClaims, provisioning },
    /** Increases when the keys of the issuer change. */
    generation: () => keys.generation(),
    /** The issuers whose ID-JAGs are accepted. `tenants`: the tenant of each issuer other than the login provider. */
    openIdJagIssuers: (issuers: readonly string[], tenants: Readonly<Record<string, string>>) =>
      new Map<string, IdJagIssuer>(
        issuers.map((issuer) => [
          issuer,
          issuer === settings.issuer
            ? { keys, settings, tenant: null }
            : openIdJagIssuer(issuer, tenants[issuer] ?? DEFAULT_TENANT),
        ]),
      ),
  };
  if (settings.clientId === null) return { ...common, browser: null };
  const callbackPath = openIdCallback(settings, address.baseUrl()).pathname;
  const browserLogin = createOpenIdLogin({
    ...{ settings, metadata, keys, keyring, clock, random, fetch, log },
    redirectUri: () => openIdCallback(settings, address.baseUrl()).href,
  });
  const openIdSessions = createOpenIdSessions({ sessions, loginTokens, audit, clock });
  const browser = { login: browserLogin, provisioning, pendingClaims, callbackPath, ...openIdSessions };
  const routes = openIdRoutes({
    ...{ ...browser, ...address, random, logger, audit, limits, clientAddressOf },
  });
  return { ...common, browser: { ...browser, routes } };
}

/** The settings of the identity provider from the environment; null without OPENID_ISSUER. */
export function openIdSettings(env: Env): OpenIdSettings | null {
  if (env.OPENID_ISSUER === undefined) return null;
  const roleClaim = env.OPENID_ROLE_CLAIM;
  return {
    issuer: env.OPENID_ISSUER,
    clientId: env.OPENID_CLIENT_ID ?? null,
    clientSecret: env.OPENID_CLIENT_SECRET ?? null,
    audience: env.OPENID_AUDIENCE ?? null,
    scope: env.OPENID_SCOPE,
    callbackUrl: env.OPENID_CALLBACK_URL,
    roleClaim,
    groupsClaim: env.OPENID_GROUPS_CLAIM ?? null,
    tenantClaim: env.OPENID_TENANT_CLAIM ?? null,
    adminRole:
      env.OPENID_ADMIN_ROLE === undefined
        ? null
        : {
            // A single value, because a role name may contain a comma.
            values: [env.OPENID_ADMIN_ROLE],
            claim: env.OPENID_ADMIN_ROLE_PARAMETER_PATH ?? roleClaim,
            from: env.OPENID_ADMIN_ROLE_TOKEN_KIND,
          },
    requiredRole:
      env.OPENID_REQUIRED_ROLE === undefined
        ? null
        : {
            values: splitList(env.OPENID_REQUIRED_ROLE),
            claim: env.OPENID_REQUIRED_ROLE_PARAMETER_PATH ?? roleClaim,
            from: env.OPENID_REQUIRED_ROLE_TOKEN_KIND,
          },
    allowedTenants: env.OPENID_ALLOWED_TENANTS === undefined ? null : splitList(env.OPENID_ALLOWED_TENANTS),
    allowedClients: env.OPENID_ALLOWED_CLIENTS === undefined ? null : splitList(env.OPENID_ALLOWED_CLIENTS),
    introspection: env.OPENID_INTROSPECTION === true,
  };
}

/** The redirect URI of the login. Its path is the route of the callback, so query and fragment are removed. */
export function openIdCallback({ callbackUrl }: Pick<OpenIdSettings, 'callbackUrl'>, baseUrl: string): URL {
  const url = new URL(callbackUrl, baseUrl);
  url.search = '';
  url.hash = '';
  return url;
}

/** A list that is set but empty allows no value. */
function splitList(text: string): string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
