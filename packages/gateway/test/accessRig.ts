import { systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { createAcl } from '../src/access/acl.ts';
import { createRoleAdmin } from '../src/access/roleAdmin.ts';
import { type ConfiguredPermissions, createRoles } from '../src/access/roles.ts';
import { createUserAdmin } from '../src/access/userAdmin.ts';
import type { Audit, AuditEvent } from '../src/audit/audit.ts';
import { createSignInSessions } from '../src/identity/signInSessions.ts';
import { aclId, type AclKey, type AclRecord, type ChangeFeed, type UserRecord } from '../src/ports/index.ts';
import { toPrincipal, type UserPrincipal } from '../src/principal/principal.ts';
import type { ServerSnapshot } from '../src/definitions/definition.ts';

/** As if no notice ever came, here or anywhere. */
export const silentChanges: ChangeFeed = {
  publish: async () => undefined,
  subscribe: () => () => undefined,
  syncedUntil: () => 0,
};

/** One store, and as many gateways over it as a test wants. */
export function createAccessRig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const events: AuditEvent[] = [];
  const logged: { event: string; fields: unknown }[] = [];
  let auditFails = false;
  let isStoreDown = false;
  const audit: Audit = {
    async record(event) {
      if (auditFails) throw new Error('full');
      events.push(event);
    },
    note: (event) => void events.push(event),
    reserve: () => true,
  };
  /** The same store, unless it is down. */
  const failWhenDown = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          isStoreDown ? Promise.reject(new Error('down')) : (method.apply(target, args) as unknown);
      },
    });

  function gateway(
    options: {
      changes?: ChangeFeed;
      namedPermissions?: ConfiguredPermissions;
      servers?: ServerSnapshot[];
      leases?: typeof store.leases;
    } = {},
  ) {
    const { changes = store.changes, servers = [], leases = store.leases } = options;
    let permissionsByRole = options.namedPermissions ?? { ADMIN: {}, USER: {} };
    const namedPermissions = () => permissionsByRole;
    const log = (event: string, fields: unknown) => void logged.push({ event, fields });
    const commonParts = { changes, clock, log };
    const roles = createRoles({
      store: failWhenDown(store.roles),
      getConfiguredPermissions: namedPermissions,
      ...commonParts,
    });
    const acl = createAcl({ store: failWhenDown(store.acl), ...commonParts });
    const sessions = createSignInSessions({
      ...{ ...store, changes, clock, random: systemRandom },
      endTokens: (key) => store.credentials.remove(key),
    });
    const { users } = store;
    const actingParts = { users, roles, acl, leases, clock, audit, changes };
    return {
      roles,
      acl,
      sessions,
      roleAdmin: createRoleAdmin({
        ...actingParts,
        store: store.roles,
        getConfiguredPermissions: namedPermissions,
      }),
      userAdmin: createUserAdmin({ ...actingParts, sessions }),
      sharing: {
        ...actingParts,
        registry: {
          get: (_tenant: string, id: string) => servers.find((server) => server.id === id),
          list: () => servers,
        },
      },
      /** As a reload of the configuration does. */
      rename: (next: ConfiguredPermissions) => void (permissionsByRole = next),
      ready: Promise.all([roles.ready, acl.ready]),
    };
  }

  async function createUser(id: string, overrides: Partial<UserRecord> = {}): Promise<UserPrincipal> {
    const record = userRecord(id, clock.now(), overrides);
    await store.users.insert(record);
    return toPrincipal(record, { via: 'session', session: `session of ${id}` });
  }

  async function grantAccess(...keys: (Omit<AclKey, 'tenant'> & { bits: number; tenant?: string })[]) {
    await store.acl.change({ put: keys.map((key) => aclRecord(key)), remove: [] });
    await store.changes.publish({ topic: 'acl', id: '*' });
  }

  return {
    clock,
    store,
    events,
    logged,
    gateway,
    createUser,
    grantAccess,
    failAudit: () => void (auditFails = true),
    goDown: () => void (isStoreDown = true),
    comeBack: () => void (isStoreDown = false),
  };
}

export type AccessRig = ReturnType<typeof createAccessRig>;

export function userRecord(id: string, now: number, overrides: Partial<UserRecord> = {}): UserRecord {
  return {
    ...{ id, tenant: 'default', issuer: 'local', subject: id, email: `${id}@example.com`, name: id },
    ...{ role: 'USER', roleSource: 'manual', roleConfirmedAt: null, disabledAt: null, signedOutAt: null },
    ...{ passwordSealed: null, createdAt: now, updatedAt: now },
    ...overrides,
  };
}

export function aclRecord(key: Omit<AclKey, 'tenant'> & { bits: number; tenant?: string }): AclRecord {
  const record = { tenant: 'default', ...key };
  return { ...record, id: aclId(record), grantedBy: 'test', grantedAt: 0 };
}
