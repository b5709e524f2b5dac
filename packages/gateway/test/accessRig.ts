import { systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/stores/memory';
import { createFakeClock } from '@behalf/testkit';
import { createAcl } from '../src/access/acl.ts';
import { createRoleAdmin } from '../src/access/roleAdmin.ts';
import { createRoles } from '../src/access/roles.ts';
import type { ConfiguredPermissions } from '../src/access/roleTable.ts';
import { createUserAdmin } from '../src/access/userAdmin.ts';
import type { Audit, AuditEvent } from '../src/audit/audit.ts';
import { createSignInSessions } from '../src/identity/signInSessions.ts';
import { aclId, type AclKey, type AclRecord, type ChangeFeed, type UserRecord } from '../src/ports/index.ts';
import { toPrincipal, type UserPrincipal } from '../src/principal/principal.ts';
import type { ServerSnapshot } from '../src/registry/server.ts';

/** As if no notice ever came, here or anywhere. */
export const deaf: ChangeFeed = {
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
  let isDown = false;
  const audit: Audit = {
    async record(event) {
      if (auditFails) throw new Error('full');
      events.push(event);
    },
    note: (event) => void events.push(event),
    reserve: () => true,
  };
  /** The same store, unless it is down. */
  const answering = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          isDown ? Promise.reject(new Error('down')) : (method.apply(target, args) as unknown);
      },
    });

  function gateway(
    options: {
      changes?: ChangeFeed;
      named?: ConfiguredPermissions;
      servers?: ServerSnapshot[];
      leases?: typeof store.leases;
    } = {},
  ) {
    const { changes = store.changes, servers = [], leases = store.leases } = options;
    let names = options.named ?? { ADMIN: {}, USER: {} };
    const named = () => names;
    const log = (event: string, fields: unknown) => void logged.push({ event, fields });
    const common = { changes, clock, log };
    const roles = createRoles({ store: answering(store.roles), getConfiguredPermissions: named, ...common });
    const acl = createAcl({ store: answering(store.acl), ...common });
    const sessions = createSignInSessions({
      ...{ ...store, changes, clock, random: systemRandom },
      endTokens: (key) => store.credentials.remove(key),
    });
    const { users } = store;
    const acting = { users, roles, acl, leases, clock, audit, changes };
    return {
      roles,
      acl,
      sessions,
      roleAdmin: createRoleAdmin({ ...acting, store: store.roles, getConfiguredPermissions: named }),
      userAdmin: createUserAdmin({ ...acting, sessions }),
      sharing: {
        ...acting,
        registry: {
          get: (_tenant: string, id: string) => servers.find((server) => server.id === id),
          list: () => servers,
        },
      },
      /** As a reload of the configuration does. */
      rename: (next: ConfiguredPermissions) => void (names = next),
      ready: Promise.all([roles.ready, acl.ready]),
    };
  }

  async function user(id: string, more: Partial<UserRecord> = {}): Promise<UserPrincipal> {
    const record = userRecord(id, clock.now(), more);
    await store.users.insert(record);
    return toPrincipal(record, { via: 'session', session: `session of ${id}` });
  }

  async function grant(...keys: (Omit<AclKey, 'tenant'> & { bits: number; tenant?: string })[]) {
    await store.acl.change({ put: keys.map((key) => aclRecord(key)), remove: [] });
    await store.changes.publish({ topic: 'acl', id: '*' });
  }

  return {
    clock,
    store,
    events,
    logged,
    gateway,
    user,
    grant,
    failAudit: () => void (auditFails = true),
    goDown: () => void (isDown = true),
    comeBack: () => void (isDown = false),
  };
}

export type AccessRig = ReturnType<typeof createAccessRig>;

export function userRecord(id: string, now: number, more: Partial<UserRecord> = {}): UserRecord {
  return {
    ...{ id, tenant: 'default', issuer: 'local', subject: id, email: `${id}@example.com`, name: id },
    ...{ role: 'USER', roleSource: 'manual', roleConfirmedAt: null, disabledAt: null, signedOutAt: null },
    ...{ passwordSealed: null, createdAt: now, updatedAt: now },
    ...more,
  };
}

export function aclRecord(key: Omit<AclKey, 'tenant'> & { bits: number; tenant?: string }): AclRecord {
  const whole = { tenant: 'default', ...key };
  return { ...whole, id: aclId(whole), grantedBy: 'test', grantedAt: 0 };
}
