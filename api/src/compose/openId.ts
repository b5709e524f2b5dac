import type { Env } from '@behalf/contracts';
import {
  type Audit,
  type CredentialVault,
  DEFAULT_TENANT,
  type Log,
  type LoginSource,
  type OpenIdSettings,
  type PendingClaims,
  type Roles,
  type SignInSessions,
  createPendingClaims,
} from '@behalf/gateway';
import { GRANT_LIFETIME_MS, type IdJagIssuer } from '@behalf/gateway/authorization-server';
import {
  type BearerCallers,
  type OpenIdLogin,
  type Provisioning,
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
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Fetch, Keyring, Random } from '@behalf/kernel';
import { type OpenIdRouteParts, signInEvent } from '../routes/oauth/openId.ts';
import type { ContextTable } from './vault.ts';

export interface ComposeOpenIdParts {
  env: Env;
  clock: Clock;
  random: Random;
  keyring: Keyring;
  log: Log;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  identity: Fetch;
  /** To another issuer. */
  identityTo: (issuer: string) => Fetch;
  baseUrl: () => string;
  isEndpoint: (audience: string) => boolean;
  audit: Audit;
  roles: Roles;
  sessions: SignInSessions;
  vault: CredentialVault;
  contexts: ContextTable;
}

/** The identity provider, where one is configured. */
export interface OpenId {
  readonly bearers: BearerCallers;
  /** Where the tokens of sign-ins are. */
  readonly login: LoginSource;
  /** What the provider wants proven at users' next sign-in. */
  readonly pendingClaims: PendingClaims;
  readonly provisioning: Provisioning;
  /** Issuers that may vouch for users of ours beside the login's own, as they are read. */
  trust(
    issuers: readonly string[],
    /** Of those that are not the login's. */
    tenants: Readonly<Record<string, string>>,
  ): ReadonlyMap<string, IdJagIssuer>;
  /** Moves when the issuer's keys change. */
  readonly generation: () => number;
  /** Null where browsers cannot sign in, for want of a client id. */
  readonly browser: {
    login: OpenIdLogin;
    provisioning: Provisioning;
    startSession: OpenIdRouteParts['startSession'];
    startGrant: OpenIdRouteParts['startGrant'];
    findSessionHolder: OpenIdRouteParts['findSessionHolder'];
    pendingClaims: PendingClaims;
    callbackPath: string;
  } | null;
}

export function composeOpenId(parts: ComposeOpenIdParts): OpenId | null {
  const { env, clock, random, keyring, log, primary, coordination, baseUrl, audit, roles, sessions } = parts;
  const fetch = parts.identity;
  const settings = openIdSettings(env);
  if (!settings) return null;
  const metadata = createProviderMetadata({ settings, fetch, clock, log });
  const keys = createSigningKeySource({ metadata, fetch, clock, log });
  const roleExists = (tenant: string, name: string) => roles.exists(tenant, name);
  const provisioning = createProvisioning({
    users: primary.users,
    changes: coordination.changes,
    ...{ clock, random, roleExists, audit },
  });
  const bearers = createBearerCallers({
    verifier: createBearerVerifier({
      ...{ settings, keys, clock, log, isEndpoint: parts.isEndpoint },
      introspection: settings.introspection
        ? createIntrospection({ settings, metadata, fetch, clock, log })
        : null,
    }),
    provisioning,
    roleExists,
  });
  const generation = () => keys.generation();
  parts.contexts.login = createLoginContexts({ settings, metadata, users: primary.users, fetch });
  const loginTokens = createLoginTokens({ vault: parts.vault, settings, metadata, clock });
  const login: LoginSource = { issuer: settings.issuer, tokens: loginTokens };
  const pendingClaims = createPendingClaims({ cache: coordination.cache('openid-claims'), keyring, clock });
  const trust: OpenId['trust'] = (issuers, tenants) =>
    new Map(
      issuers.map((issuer): [string, IdJagIssuer] => {
        if (issuer === settings.issuer) return [issuer, { keys, settings, tenant: null }];
        const other = { ...settings, issuer };
        const otherMetadata = createProviderMetadata({
          settings: other,
          fetch: parts.identityTo(issuer),
          clock,
          log,
        });
        const otherKeys = createSigningKeySource({
          metadata: otherMetadata,
          fetch: parts.identityTo(issuer),
          clock,
          log,
        });
        return [issuer, { keys: otherKeys, settings: other, tenant: tenants[issuer] ?? DEFAULT_TENANT }];
      }),
    );
  const common = { bearers, login, pendingClaims, generation, provisioning, trust };
  if (settings.clientId === null) return { ...common, browser: null };
  const callback = () => openIdCallback(settings, baseUrl());
  const browserLogin = createOpenIdLogin({
    ...{ settings, metadata, keys, keyring, clock, random, fetch, log },
    redirectUri: () => callback().href,
  });
  return {
    ...common,
    browser: {
      login: browserLogin,
      provisioning,
      pendingClaims,
      findSessionHolder: async (secret) => (await sessions.resolve(secret))?.caller ?? null,
      callbackPath: callback().pathname,
      async startGrant(user, { session, clientId, from, groups, tokens }) {
        // Somebody went back and came again: what is there stays.
        if (await sessions.find(session)) return;
        const expiresAt = clock.now() + GRANT_LIFETIME_MS;
        await loginTokens.store({ tenant: user.tenant, userId: user.id, session }, tokens, expiresAt);
        await sessions.grant(user, { hash: session, groups, expiresAt, grant: { clientId, from } });
      },
      async startSession(user, { via, groups, tokens }) {
        const session = await sessions.start(user, { via, groups });
        const tokenOwner = { tenant: user.tenant, userId: user.id, session: session.hash };
        await loginTokens.store(tokenOwner, tokens, session.expiresAt);
        await audit.record(signInEvent('session.start', user));
        return session;
      },
    },
  };
}

/** The identity provider as the environment describes it; null when there is none. */
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
            // One value: the name of a role may hold a comma.
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

/** Where the provider sends browsers back to. Its path is the route; neither query nor fragment belongs to it. */
export function openIdCallback({ callbackUrl }: Pick<OpenIdSettings, 'callbackUrl'>, baseUrl: string): URL {
  const url = new URL(callbackUrl, baseUrl);
  url.search = '';
  url.hash = '';
  return url;
}

/** A list that is set and names nobody lets nobody in. */
function splitList(text: string): string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
