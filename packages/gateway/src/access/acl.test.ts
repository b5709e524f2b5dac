import { aclBits } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { aclRecord, createAccessRig, silentChanges, userRecord } from '../../test/accessRig.ts';
import { defineServer } from '../../test/toolcallRig.ts';
import type { AclRecord, UserRecord } from '../ports/index.ts';
import { toPrincipal, type Principal } from '../principal/principal.ts';
import type { ServerSnapshot, ServerSource } from '../definitions/definition.ts';

const createUser = (id: string, more: Partial<UserRecord> = {}, groups: string[] = []): Principal =>
  toPrincipal(userRecord(id, 0, more), { via: 'bearer' }, groups);
const program = (role: string): Principal => ({
  ...{ ...createUser('bob', { role }, ['g']), kind: 'service' as const },
});
const server = (
  id: string,
  source: ServerSource = 'user',
  access?: Record<string, string[]>,
): ServerSnapshot => defineServer(id, access ? { access } : {}, { source, author: 'author' });
const row = (
  principalType: AclRecord['principalType'],
  principalId: string,
  bits: number,
  serverId = 's',
) => ({
  ...{ principalType, principalId, bits, serverId },
});

async function createRig() {
  const rig = createAccessRig();
  const gateway = rig.gateway();
  await gateway.ready;
  return { ...rig, ...gateway };
}

describe('the ACL', () => {
  test('rows for the user, their groups, their role and everybody add up', async () => {
    const { acl, grantAccess, clock } = await createRig();
    await grantAccess(
      row('user', 'bob', 1),
      row('group', 'g', 2),
      row('group', 'h', 8),
      row('role', 'USER', 4),
    );
    await clock.advance(0);
    const s = server('s');
    expect(acl.getUseBits(createUser('bob', {}, ['x', 'g', 'h']), s)).toBe(15);
    expect(acl.getUseBits(createUser('bob'), s)).toBe(5);
    expect(acl.getUseBits(createUser('eve'), s)).toBe(4);
    expect(acl.getUseBits(createUser('eve', { role: 'other' }, ['h']), s)).toBe(8);
    expect(acl.getUseBits(createUser('bob'), server('t'))).toBe(0);
    expect([acl.canUse(createUser('bob'), s), acl.canUse(createUser('eve'), s)]).toEqual([true, false]);
  });

  test('a name of one kind is no name of another', async () => {
    const { acl, grantAccess, clock } = await createRig();
    await grantAccess(row('user', 'a', 15), row('group', 'b', 15), row('role', 'c', 15));
    await clock.advance(0);
    expect(acl.getUseBits(createUser('b', { role: 'a' }, ['c']), server('s'))).toBe(0);
  });

  test('nobody has a bit that no row for them gives', async () => {
    const { acl, store } = await createRig();
    const name = fc.constantFrom<string>('a', 'b', '', '__proto__');
    const tenant = fc.constantFrom('default', 'other');
    const kinds = fc.constantFrom('user', 'group', 'role', 'public');
    const rows = fc.array(
      fc
        .record({
          ...{ tenant, serverId: fc.constantFrom('s', 't'), principalType: kinds, principalId: name },
          bits: fc.integer({ min: 0, max: 31 }),
        })
        .map((key) => aclRecord(key.principalType === 'public' ? { ...key, principalId: '' } : key)),
      { maxLength: 12 },
    );
    const callers = fc.record({
      ...{ userId: name, role: name, tenant, groups: fc.array(name, { maxLength: 3 }) },
      kind: fc.constantFrom('user', 'service'),
    });
    await fc.assert(
      fc.asyncProperty(rows, callers, async (records, caller) => {
        const before = (await store.acl.list()).map(({ id }) => id);
        await store.acl.change({ put: [], remove: before });
        await store.acl.change({ put: records, remove: [] });
        await acl.refresh();
        const principal = { ...createUser('x'), ...caller } as Principal;
        // Of two rows of one key the later one is what is stored.
        const stored = await store.acl.list();
        const isFor = ({ principalType: type, principalId: id }: AclRecord) =>
          type === 'public' ||
          (type === 'role' && id === caller.role) ||
          (caller.kind === 'user' && type === 'user' && id === caller.userId) ||
          (caller.kind === 'user' && type === 'group' && caller.groups.includes(id));
        const expected = stored
          .filter((record) => record.tenant === 'default' && caller.tenant === 'default')
          .filter((record) => record.serverId === 's' && isFor(record))
          .reduce((bits, record) => bits | (record.bits & 15), 0);
        expect(acl.getUseBits(principal, server('s'))).toBe(expected);
      }),
      { numRuns: 200 },
    );
  });

  test('nothing of another tenant, whatever the rows say', async () => {
    const { acl, grantAccess, clock } = await createRig();
    const away = { tenant: 'away' };
    await grantAccess(
      row('public', '', 15),
      { ...row('public', '', 15), ...away },
      { ...row('user', 'bob', 15, 'file'), ...away },
    );
    await clock.advance(0);
    const bob = createUser('bob');
    expect(acl.getUseBits(bob, server('s'))).toBe(15);
    for (const other of [createUser('bob', away), createUser('root', { ...away, role: 'ADMIN' })]) {
      expect([acl.getUseBits(other, server('s')), acl.getManageBits(other, server('s'))]).toEqual([0, 0]);
    }
    const theirs: ServerSnapshot = { ...server('s'), ...away };
    expect([acl.getUseBits(bob, theirs), acl.getManageBits({ ...bob, role: 'ADMIN' }, theirs)]).toEqual([
      0, 0,
    ]);
    // An override belongs to one tenant, although its base is everybody's.
    const override: ServerSnapshot = { ...server('file', 'config'), ...away };
    expect([acl.canUse(bob, override), acl.canUse(createUser('bob', away), override)]).toEqual([false, true]);
    // Who claims to be every tenant's is not.
    expect(acl.getUseBits(bob, { ...server('s'), tenant: '*' })).toBe(0);
    expect(acl.getUseBits(bob, server('file', 'yaml'))).toBe(aclBits.VIEW);
    expect(acl.getUseBits(createUser('bob', away), server('file', 'yaml'))).toBe(15);
  });

  test('what is public is for everybody of the tenant, programs too', async () => {
    const { acl, grantAccess, clock } = await createRig();
    await grantAccess(row('public', '', 1));
    await clock.advance(0);
    for (const anybody of [createUser('bob'), createUser('x', { role: '' }), program('')]) {
      expect(acl.getUseBits(anybody, server('s'))).toBe(1);
    }
  });

  test('a program is meant by its role, never by a name or a group', async () => {
    const { acl, grantAccess, clock } = await createRig();
    await grantAccess(row('user', 'bob', 1), row('group', 'g', 2), row('role', 'robot', 4));
    await clock.advance(0);
    expect(acl.getUseBits(program('robot'), server('s'))).toBe(4);
    expect(acl.getUseBits(program('USER'), server('s'))).toBe(0);
    const listed = server('f', 'yaml', {
      users: ['bob', 'bob@example.com'],
      groups: ['g'],
      roles: ['robot'],
    });
    expect([acl.canUse(program('robot'), listed), acl.canUse(program('USER'), listed)]).toEqual([
      true,
      false,
    ]);
  });

  test('a server of the file is for everybody, or for those it lists', async () => {
    const { acl, grantAccess, clock } = await createRig();
    const sees = (access: Record<string, string[]> | undefined, who: Principal) =>
      acl.canUse(who, server('f', 'yaml', access));
    const bob = createUser('bob', { role: 'analyst' }, ['staff']);
    expect(sees(undefined, bob)).toBe(true);
    expect([sees({ users: ['bob'] }, bob), sees({ users: ['Bob@Example.com'] }, bob)]).toEqual([true, true]);
    expect([sees({ groups: ['staff'] }, bob), sees({ roles: ['analyst'] }, bob)]).toEqual([true, true]);
    for (const access of [
      {},
      { users: ['eve', 'staff', 'analyst'] },
      { groups: ['bob'] },
      { roles: ['ADMIN'] },
    ]) {
      expect([access, sees(access, bob)]).toEqual([access, false]);
    }
    // What is stored besides widens it, and an administrator is listed like everybody.
    await grantAccess(row('user', 'bob', 1, 'f'));
    await clock.advance(0);
    expect([sees({}, bob), sees({}, createUser('root', { role: 'ADMIN' }))]).toEqual([true, false]);
  });

  test('an email of a token opens nothing', async () => {
    const { acl } = await createRig();
    const listed = server('f', 'yaml', { users: ['bob@example.com'] });
    expect(acl.canUse(createUser('bob'), listed)).toBe(true);
    expect(
      acl.canUse(createUser('u1', { email: 'bob@example.com', issuer: 'https://idp.example' }), listed),
    ).toBe(false);
  });

  test('administrators look after their tenant; nobody edits the file', async () => {
    const { acl, grantAccess, clock } = await createRig();
    const root = createUser('root', { role: 'ADMIN' });
    await grantAccess(row('user', 'bob', 15), row('user', 'bob', 15, 'file'));
    await clock.advance(0);
    const { VIEW, SHARE } = aclBits;
    expect([acl.getUseBits(root, server('s')), acl.getManageBits(root, server('s'))]).toEqual([0, 15]);
    for (const source of ['yaml', 'config'] as const) {
      expect(acl.getManageBits(root, server('file', source))).toBe(VIEW | SHARE);
      expect(acl.getManageBits(createUser('bob'), server('file', source))).toBe(VIEW | SHARE);
      expect(acl.getManageBits(createUser('eve'), server('file', source))).toBe(VIEW);
    }
    expect(acl.getManageBits({ ...program('ADMIN') }, server('s'))).toBe(0);
  });

  test('who creates a server owns it, at once, and nothing is left behind', async () => {
    const { acl, store } = await createRig();
    await acl.grantOwner({ tenant: 'default', id: 's' }, 'bob');
    expect(acl.getUseBits(createUser('bob'), server('s'))).toBe(15);
    expect(acl.getUseBits(createUser('author'), server('s'))).toBe(0);
    await acl.removeServer('default', 's');
    expect([acl.getUseBits(createUser('bob'), server('s')), await store.acl.list()]).toEqual([0, []]);
  });

  test('many writers of one row leave one row', async () => {
    const { acl, store } = await createRig();
    await Promise.all(
      Array.from({ length: 50 }, () => acl.grantOwner({ tenant: 'default', id: 's' }, 'bob')),
    );
    expect(await store.acl.list()).toHaveLength(1);
  });

  test('what is taken away counts elsewhere within two seconds', async () => {
    const rig = createAccessRig();
    await rig.grantAccess(row('user', 'bob', 1));
    const [here, there, lost] = [rig.gateway(), rig.gateway(), rig.gateway({ changes: silentChanges })];
    await Promise.all([here.ready, there.ready, lost.ready]);
    const see = () => [here, there, lost].map(({ acl }) => acl.canUse(createUser('bob'), server('s')));
    expect(see()).toEqual([true, true, true]);
    await here.acl.removeServer('default', 's');
    await rig.clock.advance(0);
    expect(see()).toEqual([false, false, true]);
    await rig.clock.advance(2_000);
    expect(see()).toEqual([false, false, false]);
  });

  test('half a minute without an answer: nobody sees anything', async () => {
    const rig = createAccessRig();
    await rig.grantAccess(row('public', '', 15));
    const { acl, ready } = rig.gateway({ changes: silentChanges });
    await ready;
    rig.goDown();
    await rig.clock.advance(29_000);
    expect(acl.getUseBits(createUser('bob'), server('s'))).toBe(15);
    await rig.clock.advance(2_000);
    for (const what of [server('s'), server('f', 'yaml'), server('f', 'config')]) {
      expect(acl.getUseBits(createUser('bob'), what)).toBe(0);
      expect(acl.getManageBits(createUser('root', { role: 'ADMIN' }), what)).toBe(0);
    }
    rig.comeBack();
    await rig.clock.advance(2_000);
    expect(acl.getUseBits(createUser('bob'), server('s'))).toBe(15);
  });
});
