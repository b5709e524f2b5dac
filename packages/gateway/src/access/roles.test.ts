import { mcpPermissions, type McpPermission } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { createAccessRig, silentChanges, userRecord } from '../../test/accessRig.ts';
import { roleId, type RoleRecord } from '../ports/index.ts';
import { toPrincipal, type Principal } from '../principal/principal.ts';
import { backfillRoles } from './roleAdmin.ts';
import type { Roles } from './roles.ts';

const as = (role: string, tenant = 'default'): Principal =>
  toPrincipal(userRecord('u', 0, { role, tenant }), { via: 'bearer' });

const has = (roles: Roles, principal: Principal) =>
  mcpPermissions.filter((permission) => {
    let required = true;
    try {
      roles.requirePermission(principal, permission);
    } catch {
      required = false;
    }
    expect([permission, required]).toEqual([permission, roles.permits(principal, permission)]);
    return required;
  });

const stored = (name: string, permissions: Record<string, boolean>, tenant = 'default'): RoleRecord => ({
  ...{ id: roleId(tenant, name), tenant, name, description: '', permissions, version: 1 },
  ...{ createdAt: 0, updatedAt: 0, updatedBy: 'test' },
});

describe('roles', () => {
  test('ADMIN and USER exist in every tenant without a record', async () => {
    const { roles, ready } = createAccessRig().gateway();
    await ready;
    for (const tenant of ['default', 'other', '']) {
      expect(has(roles, as('ADMIN', tenant))).toEqual([...mcpPermissions]);
      expect(has(roles, as('USER', tenant))).toEqual(['USE']);
      expect(roles.list(tenant).map(({ name, version }) => [name, version])).toEqual([
        ['ADMIN', 0],
        ['USER', 0],
      ]);
    }
  });

  test('what nobody knows, and what nobody decided, is not', async () => {
    const rig = createAccessRig();
    await rig.store.roles.insert(stored('analyst', { CREATE: true }));
    await rig.store.roles.insert(stored('constructor', {}));
    const { roles, ready } = rig.gateway();
    await ready;
    expect(has(roles, as('analyst'))).toEqual(['CREATE']);
    for (const role of ['', 'admin', 'ADMIN ', 'constructor', '__proto__', 'toString', 'Analyst']) {
      expect([role, has(roles, as(role))]).toEqual([role, []]);
    }
    for (const name of ['__proto__', 'constructor', 'DELETE', '']) {
      expect(roles.permits(as('ADMIN'), name as McpPermission)).toBe(false);
    }
  });

  test('a program is no administrator, whatever its token says', async () => {
    const { roles, ready } = createAccessRig().gateway();
    await ready;
    const program = (role: string) => ({ ...as(role), kind: 'service' }) as Principal;
    expect(has(roles, program('ADMIN'))).toEqual([]);
    expect(has(roles, program('USER'))).toEqual(['USE']);
  });

  test('what a tenant decided holds there alone', async () => {
    const rig = createAccessRig();
    await rig.store.roles.insert(stored('USER', { CREATE: true }, 'a'));
    await rig.store.roles.insert(stored('analyst', { USE: true }, 'a'));
    const { roles, ready } = rig.gateway();
    await ready;
    expect(has(roles, as('USER', 'a'))).toEqual(['USE', 'CREATE']);
    expect(has(roles, as('USER', 'b'))).toEqual(['USE']);
    expect([has(roles, as('analyst', 'a')), has(roles, as('analyst', 'b'))]).toEqual([['USE'], []]);
    expect([roles.exists('a', 'analyst'), roles.exists('b', 'analyst')]).toEqual([true, false]);
  });

  test('the file overrules what is stored, and only where it says so', async () => {
    const rig = createAccessRig();
    await rig.store.roles.insert(stored('USER', { USE: true, CREATE: true, SHARE: true }));
    const { roles, ready, rename } = rig.gateway({
      namedPermissions: { ADMIN: { CONFIGURE_OBO: false }, USER: { SHARE: false, SHARE_PUBLIC: true } },
    });
    await ready;
    expect(has(roles, as('USER'))).toEqual(['USE', 'CREATE', 'SHARE_PUBLIC']);
    expect(has(roles, as('ADMIN'))).toEqual(['USE', 'CREATE', 'SHARE', 'SHARE_PUBLIC']);
    expect(rig.logged).toEqual([
      {
        event: 'role_overridden_by_configuration',
        fields: { role: 'USER', permission: 'SHARE', value: false },
      },
    ]);
    // A reload counts at once, and gives back what it no longer decides about.
    rename({ ADMIN: {}, USER: { USE: false } });
    expect(has(roles, as('USER'))).toEqual(['CREATE', 'SHARE']);
  });

  test('CREATE given over REST survives restarts', async () => {
    const rig = createAccessRig();
    const root = await rig.createUser('root', { role: 'ADMIN' });
    const first = rig.gateway();
    await first.roleAdmin.change(root, 'USER', { permissions: { CREATE: true } }, null);
    for (let restart = 0; restart < 2; restart += 1) {
      await backfillRoles({ store: rig.store.roles, changes: rig.store.changes, clock: rig.clock });
      const { roles, ready } = rig.gateway();
      await ready;
      expect(has(roles, as('USER'))).toEqual(['USE', 'CREATE']);
    }
  });

  test('a bit that is missing gets its default once', async () => {
    const { store, clock } = createAccessRig();
    await store.roles.insert(stored('ADMIN', { USE: true, CREATE: false }));
    await store.roles.insert(stored('USER', { USE: false, CREATE: true, SHARE: true, SHARE_PUBLIC: true }));
    await store.roles.insert(stored('analyst', { USE: true }));
    const parts = { store: store.roles, changes: store.changes, clock };
    expect(await backfillRoles(parts)).toBe(3);
    const bits = async (name: string) => (await store.roles.find('default', name))?.permissions;
    const rest = { SHARE: true, SHARE_PUBLIC: true };
    expect(await bits('ADMIN')).toEqual({ USE: true, CREATE: false, ...rest, CONFIGURE_OBO: true });
    expect(await bits('USER')).toEqual({ USE: false, CREATE: true, ...rest, CONFIGURE_OBO: false });
    expect(await bits('analyst')).toEqual({
      ...{ USE: true, CREATE: false, SHARE: false, SHARE_PUBLIC: false, CONFIGURE_OBO: false },
    });
    expect(await backfillRoles(parts)).toBe(0);
  });

  test('a choice that is made meanwhile is kept', async () => {
    const { store, clock } = createAccessRig();
    const before = stored('USER', { USE: true });
    await store.roles.insert(before);
    const deciding = {
      ...store.roles,
      async list() {
        const seen = await store.roles.list();
        const chosen = { ...before.permissions, CONFIGURE_OBO: true };
        await store.roles.replace({ ...before, permissions: chosen, version: 2 }, 1);
        return seen;
      },
    };
    expect(await backfillRoles({ store: deciding, changes: store.changes, clock })).toBe(1);
    const { permissions } = (await store.roles.find('default', 'USER')) as RoleRecord;
    expect(permissions).toMatchObject({ CONFIGURE_OBO: true, CREATE: false });
  });

  test('a downgrade counts elsewhere within two seconds, notice or not', async () => {
    const rig = createAccessRig();
    const root = await rig.createUser('root', { role: 'ADMIN' });
    const [here, there, lost] = [rig.gateway(), rig.gateway(), rig.gateway({ changes: silentChanges })];
    await Promise.all([here.ready, there.ready, lost.ready]);
    await here.roleAdmin.change(root, 'USER', { permissions: { USE: false } }, null);
    expect(has(here.roles, as('USER'))).toEqual([]);
    await rig.clock.advance(0);
    expect(has(there.roles, as('USER'))).toEqual([]);
    expect(has(lost.roles, as('USER'))).toEqual(['USE']);
    await rig.clock.advance(2_000);
    expect(has(lost.roles, as('USER'))).toEqual([]);
  });

  test('half a minute without an answer: nobody has anything', async () => {
    const rig = createAccessRig();
    const { roles, ready } = rig.gateway({ changes: silentChanges });
    await ready;
    rig.goDown();
    await rig.clock.advance(29_000);
    expect(has(roles, as('USER'))).toEqual(['USE']);
    await rig.clock.advance(2_000);
    for (const role of ['USER', 'ADMIN']) expect([role, has(roles, as(role))]).toEqual([role, []]);
    expect(() => roles.requirePermission(as('ADMIN'), 'USE')).toThrow(
      expect.objectContaining({ code: 'STORE_UNAVAILABLE' }),
    );
    expect([roles.exists('default', 'ADMIN'), roles.list('default')]).toEqual([false, []]);
    rig.comeBack();
    await rig.clock.advance(2_000);
    expect(has(roles, as('USER'))).toEqual(['USE']);
  });

  test('and nobody has before the first answer', async () => {
    const rig = createAccessRig();
    rig.goDown();
    const { roles, ready } = rig.gateway();
    await ready;
    expect(has(roles, as('ADMIN'))).toEqual([]);
  });
});
