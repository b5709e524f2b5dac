import { describe, expect, test } from '@jest/globals';
import { createAccessRig } from '../../test/accessRig.ts';
import { roleId } from '../ports/index.ts';

async function createRig(named?: Parameters<ReturnType<typeof createAccessRig>['gateway']>[0]) {
  const rig = createAccessRig();
  const gateway = rig.gateway(named);
  await gateway.ready;
  const root = await rig.createUser('root', { role: 'ADMIN' });
  const bob = await rig.createUser('bob');
  return { ...rig, ...gateway, root, bob };
}

const analyst = { name: 'analyst', description: 'Reads', permissions: { USE: true } };
const coded = (code: string) => expect.objectContaining({ code });

describe('administration of roles', () => {
  test('a role is made, changed and deleted', async () => {
    const { roleAdmin, roles, root, bob, store, events } = await createRig();
    const made = await roleAdmin.create(root, analyst);
    expect(made).toMatchObject({ name: 'analyst', isBuiltIn: false, version: 1, managed: [] });
    const theirs = { ...bob, role: 'analyst' };
    expect([roles.permits(theirs, 'USE'), roles.permits(theirs, 'CREATE')]).toEqual([true, false]);
    const changed = await roleAdmin.change(root, 'analyst', { permissions: { CREATE: true } }, 1);
    expect(changed).toMatchObject({ version: 2, description: 'Reads', permissions: { CREATE: true } });
    expect(roles.permits(theirs, 'CREATE')).toBe(true);
    await roleAdmin.remove(root, 'analyst');
    expect([roles.permits(theirs, 'USE'), await store.roles.find('default', 'analyst')]).toEqual([
      false,
      null,
    ]);
    expect(events.map(({ action, outcome, changed: names }) => [action, outcome, names])).toEqual([
      ['role.create', 'ok', ['name', 'USE']],
      ['role.change', 'ok', ['CREATE']],
      ['role.delete', 'ok', ['name']],
    ]);
    expect(events[0]).toMatchObject({ kind: 'permission', subject: 'analyst', actor: { id: 'root' } });
  });

  test('nobody else does any of it', async () => {
    const { roleAdmin, bob, store } = await createRig();
    for (const work of [
      () => roleAdmin.list(bob),
      () => roleAdmin.view(bob, 'USER'),
      () => roleAdmin.create(bob, analyst),
      () => roleAdmin.change(bob, 'USER', { permissions: { CREATE: true } }, null),
      () => roleAdmin.remove(bob, 'analyst'),
    ]) {
      await expect(work()).rejects.toEqual(coded('FORBIDDEN'));
    }
    expect(await store.roles.list()).toEqual([]);
  });

  test('administrators reach their own tenant alone', async () => {
    const { roleAdmin, roles, root, createUser } = await createRig();
    const other = await createUser('other', { role: 'ADMIN', tenant: 'elsewhere' });
    await roleAdmin.create(other, analyst);
    await expect(roleAdmin.view(root, 'analyst')).rejects.toEqual(coded('ROLE_NOT_FOUND'));
    await expect(roleAdmin.change(root, 'analyst', { description: 'x' }, null)).rejects.toEqual(
      coded('ROLE_NOT_FOUND'),
    );
    await expect(roleAdmin.remove(root, 'analyst')).rejects.toEqual(coded('ROLE_NOT_FOUND'));
    await roleAdmin.change(other, 'USER', { permissions: { CREATE: true } }, null);
    expect(roles.roleHasPermission('default', 'USER', 'CREATE')).toBe(false);
    expect(roles.exists('elsewhere', 'analyst')).toBe(true);
  });

  test('names that differ in case alone are one', async () => {
    const { roleAdmin, roles, root } = await createRig();
    await roleAdmin.create(root, analyst);
    for (const name of ['analyst', 'Analyst', 'admin', 'User', 'ADMIN']) {
      await expect(roleAdmin.create(root, { ...analyst, name })).rejects.toEqual(coded('ROLE_TAKEN'));
    }
    expect([roles.findName('default', 'user'), roles.findName('default', 'ANALYST')]).toEqual([
      'USER',
      'analyst',
    ]);
    expect(roles.findName('default', 'nobody')).toBeNull();
  });

  test('what the file names cannot be changed over REST', async () => {
    const { roleAdmin, store, root } = await createRig({
      namedPermissions: { ADMIN: {}, USER: { CREATE: false, SHARE: true } },
    });
    await expect(
      roleAdmin.change(root, 'USER', { permissions: { CREATE: true, USE: false } }, null),
    ).rejects.toMatchObject({
      code: 'ROLE_MANAGED',
      errors: [{ path: 'permissions.MCP_SERVERS.CREATE', code: 'managed' }],
    });
    expect(await store.roles.list()).toEqual([]);
    // A dialog sends all of them: what the file says anyway is no mistake, and is not written down.
    const all = { USE: false, CREATE: false, SHARE: true };
    const role = await roleAdmin.change(root, 'USER', { permissions: all }, null);
    expect(role).toMatchObject({ managed: ['CREATE', 'SHARE'], permissions: { USE: false } });
    expect((await store.roles.find('default', 'USER'))?.permissions).toEqual({ USE: false });
  });

  test('built-in roles stay', async () => {
    const { roleAdmin, root } = await createRig();
    for (const name of ['ADMIN', 'USER']) {
      await expect(roleAdmin.remove(root, name)).rejects.toEqual(coded('ROLE_MANAGED'));
    }
  });

  test('who decided on an older version is told', async () => {
    const { roleAdmin, store, root } = await createRig();
    await roleAdmin.change(root, 'USER', { permissions: { CREATE: true } }, 0);
    await expect(roleAdmin.change(root, 'USER', { permissions: { SHARE: true } }, 0)).rejects.toEqual(
      coded('VERSION_CONFLICT'),
    );
    const two = await Promise.allSettled([
      roleAdmin.change(root, 'USER', { permissions: { SHARE: true } }, 1),
      roleAdmin.change(root, 'USER', { permissions: { SHARE_PUBLIC: true } }, 1),
    ]);
    expect(two.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await store.roles.find('default', 'USER'))?.version).toBe(2);
  });

  test('without a version both changes are kept', async () => {
    const { roleAdmin, store, root } = await createRig();
    await Promise.all([
      roleAdmin.change(root, 'USER', { permissions: { CREATE: true } }, null),
      roleAdmin.change(root, 'USER', { permissions: { SHARE: true } }, null),
    ]);
    expect((await store.roles.find('default', 'USER'))?.permissions).toEqual({ CREATE: true, SHARE: true });
  });

  test('a role that somebody has is not deleted', async () => {
    const { roleAdmin, userAdmin, root, bob } = await createRig();
    await roleAdmin.create(root, analyst);
    await userAdmin.change(root, bob.userId, { role: 'analyst' });
    await expect(roleAdmin.remove(root, 'analyst')).rejects.toEqual(coded('ROLE_IN_USE'));
  });

  test('nobody gets a role while it is being deleted', async () => {
    const { roleAdmin, userAdmin, store, clock, root, bob } = await createRig();
    await roleAdmin.create(root, analyst);
    const both = Promise.allSettled([
      roleAdmin.remove(root, 'analyst'),
      userAdmin.change(root, bob.userId, { role: 'analyst' }),
    ]);
    await clock.advance(1_000);
    expect((await both).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const left = await store.roles.find('default', 'analyst');
    expect([left === null, (await store.users.findById('bob'))?.role]).toEqual(
      left ? [false, 'analyst'] : [true, 'USER'],
    );
  });

  test('what was shared with a role goes with it', async () => {
    const { roleAdmin, grantAccess, store, root } = await createRig();
    await roleAdmin.create(root, analyst);
    await grantAccess(
      { serverId: 's', principalType: 'role', principalId: 'analyst', bits: 15 },
      { serverId: 's', principalType: 'user', principalId: 'analyst', bits: 1 },
      { serverId: 's', principalType: 'role', principalId: 'analyst', bits: 15, tenant: 'elsewhere' },
    );
    await roleAdmin.remove(root, 'analyst');
    expect((await store.acl.list()).map(({ tenant, principalType }) => [tenant, principalType])).toEqual([
      ['default', 'user'],
      ['elsewhere', 'role'],
    ]);
  });

  test('what cannot be written down is not acknowledged', async () => {
    const { roleAdmin, failAudit, events, root } = await createRig();
    await expect(roleAdmin.view(root, roleId('default', 'x'))).rejects.toEqual(coded('ROLE_NOT_FOUND'));
    await expect(roleAdmin.remove(root, 'USER')).rejects.toEqual(coded('ROLE_MANAGED'));
    expect(events).toMatchObject([{ action: 'role.delete', outcome: 'refused', code: 'ROLE_MANAGED' }]);
    failAudit();
    await expect(roleAdmin.create(root, analyst)).rejects.toThrow('full');
  });
});
