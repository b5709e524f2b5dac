import { readExplicitPermissions } from '@behalf/contracts';
import {
  type AuditLog,
  type CredentialVault,
  backfillRoles,
  createAccounts,
  createAcl,
  createApiKeys,
  createAuditLog,
  createCallerCache,
  createPasswordSignIn,
  createPasswords,
  createRevocationMonitor,
  createRoleAdmin,
  createRoles,
  createSetup,
  createSignInSessions,
  createUserAdmin,
  sweepAudit,
} from '@behalf/gateway';
import { createBearerResolver } from '../http/authentication.ts';
import type { RateLimits } from '../http/limits.ts';
import type { ClientAddressReader } from '../http/request.ts';
import {
  type EndpointResources,
  type McpResourceServer,
  createMcpResourceServer,
} from '../http/resourceServer.ts';
import { MCP_SCOPE } from '../routes/authorization-server/issuer.ts';
import { setPeriodic } from '../runtime/lifecycle.ts';
import type { ComposeContext } from './context.ts';
import type { IdentityProvider } from './openId.ts';

const SWEEP_MS = 60 * 60 * 1000;

export function composeAudit({
  env,
  clock,
  random,
  keyring,
  log,
  primary,
  disposables,
}: ComposeContext): AuditLog {
  const audit = createAuditLog({ store: primary.audit, keyring, clock, random, log });
  disposables.add(() => audit.close());
  const sweepParts = { store: primary.audit, audit, clock, days: env.AUDIT_RETENTION_DAYS };
  disposables.add(setPeriodic(SWEEP_MS, clock, () => sweepAudit(sweepParts)));
  return audit;
}

interface AccessParts {
  readonly audit: AuditLog;
  readonly vault: CredentialVault;
  /** Null without OPENID_ISSUER. */
  readonly identityProvider: IdentityProvider | null;
  readonly endpoints: EndpointResources;
  readonly limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  readonly clientAddressOf: ClientAddressReader;
}

export type ComposedAccess = Awaited<ReturnType<typeof composeAccess>>;

/** Accounts, sessions, API keys, roles and ACL; login at the identity provider; the gateway's authorization server. */
export async function composeAccess(context: ComposeContext, parts: AccessParts) {
  const { clock, random, keyring, log, configuration, primary, coordination, disposables } = context;
  const { audit, vault, identityProvider, endpoints } = parts;
  // The leases of the primary store, so that permissions can be revoked during a Redis outage.
  const { users, tickets, credentials, leases } = primary;
  const { changes, attempts } = coordination;

  const passwords = createPasswords(random);
  const accounts = createAccounts({ users, changes, passwords, keyring, clock, random });
  const sessions = createSignInSessions({
    sessions: primary.sessions,
    ...{ users, credentials, changes, clock, random },
    endTokens: (key) => vault.remove(key),
  });
  const apiKeys = createApiKeys({ store: primary.apiKeys, users, changes, clock, random, audit });
  disposables.add(setPeriodic(SWEEP_MS, clock, () => sessions.sweep()));
  disposables.add(setPeriodic(SWEEP_MS, clock, () => apiKeys.sweep()));
  const setup = createSetup({ tickets, accounts, clock, random });
  const signIn = createPasswordSignIn({ accounts, attempts, clock });

  // Returns the same object until the configuration changes, because consumers compare it by identity.
  const getConfiguredPermissions = configuration.derive((settings) =>
    readExplicitPermissions(settings.interface.mcpServers),
  );
  await backfillRoles({ store: primary.roles, changes, clock });
  const roles = createRoles({ store: primary.roles, getConfiguredPermissions, changes, clock, log });
  disposables.add(() => roles.stop());
  const acl = createAcl({ store: primary.acl, changes, clock, log });
  disposables.add(() => acl.stop());
  await Promise.all([roles.ready, acl.ready]);
  const roleAdmin = createRoleAdmin({
    ...{ roles, users, acl, getConfiguredPermissions, changes, audit, leases, clock },
    store: primary.roles,
  });
  const userAdmin = createUserAdmin({ users, sessions, roles, changes, audit, leases, clock });

  // Loaded only if configured: both modules depend on large libraries.
  const openId =
    identityProvider &&
    (await import('./openId.ts')).composeOpenId(context, identityProvider, { ...parts, roles, sessions });
  const settings = configuration.current().authorizationServer;
  const authorizationServer = settings
    ? (await import('./authorizationServer.ts')).composeAuthorizationServer(context, {
        ...parts,
        ...{ settings, sessions, openId },
      })
    : null;
  const bearerResolver = createBearerResolver(authorizationServer, openId);
  const callerCaches = {
    sessions: createCallerCache({
      read: (secret) => sessions.resolve(secret),
      topic: 'sessions',
      changes,
      clock,
    }),
    keys: createCallerCache({ read: (key) => apiKeys.resolve(key), topic: 'apiKeys', changes, clock }),
    bearers: bearerResolver && createCallerCache({ ...bearerResolver, topic: null, changes, clock }),
  };
  disposables.add(() => {
    callerCaches.sessions.close();
    callerCaches.keys.close();
    callerCaches.bearers?.close();
  });
  const callerWatch = createRevocationMonitor({
    ...{ users, sessions: primary.sessions, apiKeys: primary.apiKeys, changes, clock },
    signingKeys: authorizationServer?.keys ?? null,
  });
  disposables.add(() => callerWatch.stop());
  return {
    ...{ audit, accounts, sessions, setup, signIn, apiKeys, openId, authorizationServer },
    ...{ roles, acl, roleAdmin, userAdmin, callerCaches, callerWatch },
    resourceServer: composeResourceServer(context, endpoints, authorizationServer?.issuer),
  };
}

/** The MCP endpoints as OAuth resource. The issuer is the gateway's authorization server if enabled, else the identity provider. */
function composeResourceServer(
  { env, address }: Pick<ComposeContext, 'env' | 'address'>,
  endpoints: EndpointResources,
  ownIssuer: (() => string) | undefined,
): McpResourceServer {
  const { OPENID_ISSUER: loginIssuer } = env;
  const scopes = (env.OPENID_MCP_SCOPE ?? '').split(/\s+/).filter((word) => word !== '');
  return createMcpResourceServer({
    issuer: ownIssuer ?? (loginIssuer === undefined ? null : () => loginIssuer),
    scopes,
    offeredScopes: ownIssuer ? [MCP_SCOPE] : scopes,
    ...{ endpoints, baseUrl: address.baseUrl },
  });
}
