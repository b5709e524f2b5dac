import type { Env } from '@behalf/contracts';
import {
  createPendingClaims,
  DEFAULT_TENANT,
  type Audit,
  type CredentialVault,
  type Log,
  type LoginSource,
  type PendingClaims,
  type Roles,
  type SignInSessions,
} from '@behalf/gateway';
import { GRANT_LIFETIME_MS, type IdJagIssuer } from '@behalf/gateway/facade';
import {
  createBearerCallers,
  createBearerVerifier,
  createIntrospection,
  createSigningKeySource,
  createLoginContexts,
  createLoginTokens,
  createOpenIdLogin,
  createProviderMetadata,
  createProvisioning,
  type BearerCallers,
  type OpenIdLogin,
  type Provisioning,
} from '@behalf/gateway/openid';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Fetch, Keyring, Random } from '@behalf/kernel';
import type { ContextTable } from './composeVault.ts';
import type { OpenIdRouteParts } from './oauth/openid.ts';
import { openIdCallback, openIdSettings } from './oauth/openIdSettings.ts';
import { signInEvent } from './rest/auth/signInEvents.ts';

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
