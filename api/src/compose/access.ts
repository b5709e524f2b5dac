import { type Env, readExplicitPermissions } from '@behalf/contracts';
import {
  type Accounts,
  type Acl,
  type ApiKeys,
  type AuditLog,
  type CallerCache,
  type ConfiguredPermissions,
  type CredentialVault,
  type Log,
  type PasswordSignIn,
  type RevocationMonitor,
  type RoleAdmin,
  type Roles,
  type Setup,
  type SignInSessions,
  type UserAdmin,
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
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Fetch, Keyring, Random } from '@behalf/kernel';
import {
  type EndpointResources,
  type McpResourceServer,
  createMcpResourceServer,
} from '../http/resourceServer.ts';
import { MCP_SCOPE } from '../routes/authorization-server/issuer.ts';
import type { ClientFetchLimit } from '../routes/authorization-server/limits.ts';
import type { Configuration } from '../runtime/configuration.ts';
import { type Disposables, setPeriodic } from '../runtime/lifecycle.ts';
import type { ComposedAuthorizationServer } from './authorizationServer.ts';
import type { OpenId } from './openId.ts';
import type { ContextTable } from './vault.ts';

const SWEEP_MS = 60 * 60 * 1000;

interface ComposeAccessParts {
  env: Env;
  clock: Clock;
  random: Random;
  keyring: Keyring;
  log: Log;
  configuration: Configuration;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  disposables: Disposables;
  /** To the identity provider. */
  identity: Fetch;
  /** To another issuer. */
  identityTo: (issuer: string) => Fetch;
  /** To the documents of clients of our own authorization server. */
  documents: Fetch;
  /** How often they are asked for. */
  fetchLimit: ClientFetchLimit;
  /** Where browsers reach us. */
  baseUrl: () => string;
  /** Whether a token's audience is an endpoint of ours. */
  isEndpoint: (audience: string) => boolean;
  vault: CredentialVault;
  contexts: ContextTable;
}

/** Who is calling, what they may do, and what is written down about it. */
export interface ComposedAccess {
  readonly audit: AuditLog;
  readonly accounts: Accounts;
  readonly sessions: SignInSessions;
  readonly setup: Setup;
  readonly signIn: PasswordSignIn;
  readonly apiKeys: ApiKeys;
  readonly openId: OpenId | null;
  /** Our own authorization server, where it is enabled. */
  readonly authorizationServer: ComposedAuthorizationServer | null;
  readonly roles: Roles;
  readonly acl: Acl;
  readonly roleAdmin: RoleAdmin;
  readonly userAdmin: UserAdmin;
  /** Whom a cookie, a key and a token belong to. */
  readonly callerCaches: { sessions: CallerCache; keys: CallerCache; bearers: CallerCache | null };
  /** When that is over, for what lasts. */
  readonly callerWatch: RevocationMonitor;
}

export async function composeAccess(parts: ComposeAccessParts): Promise<ComposedAccess> {
  const { env, clock, random, keyring, log, configuration, primary, coordination, disposables } = parts;
  // The leases of the store that is written: who takes a right away must not have to wait for Redis.
  const { users, tickets, credentials, leases } = primary;
  const { changes, attempts } = coordination;

  const audit = createAuditLog({ store: primary.audit, keyring, clock, random, log });
  disposables.add(() => audit.close());
  parts.contexts.audit = audit;
  const days = env.AUDIT_RETENTION_DAYS;
  disposables.add(
    setPeriodic(SWEEP_MS, clock, () => sweepAudit({ store: primary.audit, audit, clock, days })),
  );

  const passwords = createPasswords(random);
  const accounts = createAccounts({ users, changes, passwords, keyring, clock, random });
  const sessions = createSignInSessions({
    sessions: primary.sessions,
    ...{ users, credentials, changes, clock, random },
    endTokens: (key) => parts.vault.remove(key),
  });
  const apiKeys = createApiKeys({ store: primary.apiKeys, users, changes, clock, random, audit });
  disposables.add(setPeriodic(SWEEP_MS, clock, () => sessions.sweep()));
  disposables.add(setPeriodic(SWEEP_MS, clock, () => apiKeys.sweep()));
  const setup = createSetup({ tickets, accounts, clock, random });
  const signIn = createPasswordSignIn({ accounts, attempts, clock });

  const getConfiguredPermissions = namedPermissions(configuration);
  await backfillRoles({ store: primary.roles, changes, clock });
  const roles = createRoles({
    store: primary.roles,
    getConfiguredPermissions: getConfiguredPermissions,
    changes,
    clock,
    log,
  });
  disposables.add(() => roles.stop());
  const acl = createAcl({ store: primary.acl, changes, clock, log });
  disposables.add(() => acl.stop());
  await Promise.all([roles.ready, acl.ready]);
  const roleAdmin = createRoleAdmin({
    ...{
      roles,
      users,
      acl,
      getConfiguredPermissions: getConfiguredPermissions,
      changes,
      audit,
      leases,
      clock,
    },
    store: primary.roles,
  });
  const userAdmin = createUserAdmin({ users, sessions, roles, changes, audit, leases, clock });

  // Loaded for who has an identity provider: it stands on libraries that nobody else needs.
  const openId =
    env.OPENID_ISSUER === undefined
      ? null
      : (await import('./openId.ts')).composeOpenId({ ...parts, audit, roles, sessions });
  const settings = configuration.current().authorizationServer;
  // As above: the library behind it is loaded by whoever first comes to it.
  const authorizationServerModule = settings && (await import('./authorizationServer.ts'));
  const authorizationServer =
    settings && authorizationServerModule
      ? authorizationServerModule.composeAuthorizationServer({
          ...parts,
          changes,
          settings,
          sessions,
          openId,
        })
      : null;
  const callerCaches = {
    sessions: createCallerCache({
      read: (secret) => sessions.resolve(secret),
      topic: 'sessions',
      changes,
      clock,
    }),
    keys: createCallerCache({ read: (key) => apiKeys.resolve(key), topic: 'apiKeys', changes, clock }),
    bearers:
      openId || authorizationServerModule
        ? createCallerCache({
            read: (token) =>
              authorizationServerModule
                ? authorizationServerModule.resolveBearer(token, authorizationServer, openId)
                : (openId?.bearers.resolve(token) ?? Promise.resolve(null)),
            topic: null,
            ...combinedGeneration(openId, authorizationServer),
            changes,
            clock,
          })
        : null,
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
  };
}

/** One object for as long as the configuration stays: whoever compares it sees a change. */
function namedPermissions(configuration: Configuration): () => ConfiguredPermissions {
  const read = () => readExplicitPermissions(configuration.current().interface.mcpServers);
  let named = read();
  configuration.onChange(() => {
    named = read();
  });
  return () => named;
}

/** Moves with the keys of whoever signs tokens that count here. */
function combinedGeneration(
  openId: Pick<OpenId, 'generation'> | null,
  authorizationServer: Pick<ComposedAuthorizationServer, 'keys'> | null,
): { generation?: () => number } {
  if (!authorizationServer) return openId ? { generation: openId.generation } : {};
  const ownGeneration = () => authorizationServer.keys.keySource.generation();
  // Neither ever moves back.
  return { generation: openId ? () => openId.generation() + ownGeneration() : ownGeneration };
}

interface ComposeResourceParts {
  readonly env: Pick<Env, 'OPENID_ISSUER' | 'OPENID_MCP_SCOPE'>;
  readonly authorizationServer: ComposedAccess['authorizationServer'];
  readonly endpoints: EndpointResources;
  readonly baseUrl: () => string;
}

/** The MCP endpoints as an OAuth resource server: of our own authorization server where there is one, else of the identity provider. */
export function composeResource({
  env,
  authorizationServer,
  endpoints,
  baseUrl,
}: ComposeResourceParts): McpResourceServer {
  const { OPENID_ISSUER: loginIssuer } = env;
  const scopes = (env.OPENID_MCP_SCOPE ?? '').split(/\s+/).filter((word) => word !== '');
  return createMcpResourceServer({
    issuer: authorizationServer?.issuer ?? (loginIssuer === undefined ? null : () => loginIssuer),
    scopes,
    offeredScopes: authorizationServer ? [MCP_SCOPE] : scopes,
    ...{ endpoints, baseUrl },
  });
}
