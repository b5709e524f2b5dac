import { createKeyring, systemRandom } from '@behalf/kernel';
import { allowsPlainHttp, readGraphScopes, loadSettings, readLoginProviderInfo } from '@behalf/settings';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { aUser } from '@behalf/testkit/suites';
import { createAcl } from '../src/access/acl.ts';
import { createOboTargets } from '../src/access/oboTargets.ts';
import { createRoles } from '../src/access/roles.ts';
import type { Audit, AuditEvent } from '../src/audit/audit.ts';
import { createOverrides } from '../src/servers/overrides.ts';
import type { ConfigureParts } from '../src/servers/editing.ts';
import { createRetiringServers, createServerGrants } from '../src/credentials/signin/serverGrants.ts';
import { aclId, roleId, type UserRecord } from '../src/ports/index.ts';
import type { UserPrincipal } from '../src/principal/principal.ts';
import { createRegistry } from '../src/servers/registry.ts';
import { createStoredServers } from '../src/servers/stored.ts';
import { rejectAppBearer } from './bearerRig.ts';

const env = {
  SECRET_OF_ENV: 'pl4nted-env',
  OPENID_ISSUER: 'https://sso.example',
  OPENID_CLIENT_ID: 'behalf',
  OPENID_CLIENT_SECRET: 'pl4nted-login',
  OPENID_AUDIENCE: 'api://behalf',
  OPENID_SCOPE: 'openid profile email offline_access',
};

/** What a role of the tests has. USER has only USE, ADMIN everything. */
const roleBits = {
  MAKER: { USE: true, CREATE: true },
  TRUSTED: { USE: true, CREATE: true, CONFIGURE_OBO: true },
  NO_USE: { USE: false, CREATE: true },
};

export const remoteDefinition = { type: 'streamable-http', url: 'https://base.example/mcp' };

/** Everything that configuring servers needs, on a memory store; what would go out is written down. */
export async function createConfigureRig(
  mcpServers: Record<string, unknown> = {},
  partOverrides: Partial<Pick<ConfigureParts, 'checkAddress' | 'inspect' | 'maxPerUser'>> = {},
  extraSettings: Record<string, unknown> = {},
) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
  const events: AuditEvent[] = [];
  const logged: string[] = [];
  const requests: string[] = [];
  const log = (event: string, fields: object) => void logged.push(`${event} ${JSON.stringify(fields)}`);
  const { changes } = store;
  const commonParts = { changes, clock, log };
  for (const [name, permissions] of Object.entries(roleBits)) {
    for (const tenant of ['default', 'acme']) {
      const roleTexts = { description: '', updatedBy: 'test', createdAt: 0, updatedAt: 0 };
      await store.roles.insert({
        id: roleId(tenant, name),
        tenant,
        name,
        permissions,
        version: 1,
        ...roleTexts,
      });
    }
  }
  const rolePermissions = { ADMIN: {}, USER: {} };
  const roles = createRoles({
    store: store.roles,
    getConfiguredPermissions: () => rolePermissions,
    ...commonParts,
  });
  const acl = createAcl({ store: store.acl, ...commonParts });
  const registry = createRegistry({
    env,
    enforcedRestrictions: new Set(['sharing', 'access', 'tools']),
    hasFailedInspection: () => false,
    appBearer: rejectAppBearer,
    log,
  });
  // Described, so that what a scope without a resource means here is known.
  const identityProviders = { login: { type: 'jwt-bearer' } };
  const loadResult = loadSettings(JSON.stringify({ mcpServers, identityProviders, ...extraSettings }), {
    env,
  });
  if (!loadResult.ok) throw new Error(JSON.stringify(loadResult.diagnostics));
  registry.update({ settings: loadResult.settings, definitions: loadResult.definitions });
  const stored = createStoredServers({
    servers: store.servers,
    variables: store.variables,
    keyring,
    random: systemRandom,
    ...commonParts,
  });
  const overrides = createOverrides({ store: store.overrides, keyring, ...commonParts });
  const serverSubscription = stored.subscribe((servers) => registry.update({ stored: servers }));
  const overrideSubscription = overrides.subscribe((all) => registry.update({ overrides: all }));
  await Promise.all([roles.ready, acl.ready, serverSubscription.ready, overrideSubscription.ready]);
  const audit: Audit = {
    async record(event) {
      events.push(event);
    },
    note: (event) => void events.push(event),
    reserve: () => true,
  };
  const userRecords = new Map<string, UserRecord>();
  const parts = {
    acl,
    roles,
    registry,
    stored,
    overrides,
    grants: createServerGrants({
      vault: { remove: (key) => store.credentials.remove(key) },
      ...{ credentials: store.credentials, flows: store.oauthFlows, clients: store.oauthClients },
      retiring: createRetiringServers(),
    }),
    draftParts: {
      ...{ records: store.credentials, flows: store.oauthFlows },
      drafts: {
        findOwn: async () => null,
        consume: async () => false,
        end: async () => undefined,
        discard: async () => undefined,
      },
      oauth: { isGrantForServer: async () => false },
    },
    variables: store.variables,
    changes,
    leases: store.leases,
    users: { findById: async (id: string) => userRecords.get(id) ?? null },
    audit,
    clock,
    random: systemRandom,
    checkAddress: async (url: string) => void requests.push(`check ${url}`),
    async inspect({ settings }: Parameters<ConfigureParts['inspect']>[0]) {
      requests.push(`inspect ${JSON.stringify('url' in settings ? settings.url : null)}`);
      return { tools: 1 };
    },
    refreshRegistry: async () => {
      await Promise.all([serverSubscription.refresh(), overrideSubscription.refresh()]);
    },
    maxPerUser: 50,
    oboTargets: createOboTargets({
      providers: () => loadResult.settings.identityProviders,
      login: () => readLoginProviderInfo(env),
      declaredServers: () => loadResult.settings.servers,
      graphScopes: readGraphScopes({}),
    }),
    isPlainHttpAllowed: (url: string) =>
      allowsPlainHttp(loadResult.settings.mcpSettings.allowedDomains ?? [], url),
    ...partOverrides,
  };
  return {
    clock,
    store,
    keyring,
    parts,
    events,
    logged,
    /** What the network would have heard. */
    requests,
    /** Somebody who calls, with the account that goes with it. */
    createPrincipal: (
      userId: string,
      role: string,
      extraSettings: Partial<UserPrincipal> = {},
    ): UserPrincipal => {
      const principal = aPrincipal({
        userId,
        role,
        email: `${userId}@example.com`,
        name: userId,
        ...extraSettings,
      });
      const { tenant } = principal;
      userRecords.set(userId, aUser({ id: userId, tenant, role: principal.role }));
      return principal;
    },
    /** What becomes of an account while its request runs. */
    updateUserRecord: (userId: string, change: Partial<UserRecord>) => {
      userRecords.set(userId, { ...userRecords.get(userId)!, ...change });
    },
    /** Shares a server of the default tenant. */
    grantAccess: async (serverId: string, userId: string, bits: number) => {
      const key = { tenant: 'default', serverId, principalType: 'user' as const, principalId: userId };
      const aclRecord = { ...key, id: aclId(key), bits, grantedBy: 'test', grantedAt: 0 };
      await acl.write({ put: [aclRecord], remove: [] });
    },
  };
}

export type ConfigureRig = Awaited<ReturnType<typeof createConfigureRig>>;
