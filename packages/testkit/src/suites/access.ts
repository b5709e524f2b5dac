import { type AclRecord, type PrimaryStore, type RoleRecord, aclId, roleId } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { type OpenStore, useStore } from './useStore.ts';

export function aRole(overrides: Partial<Omit<RoleRecord, 'id'>> = {}): RoleRecord {
  const record = {
    tenant: 'default',
    name: 'EDITORS',
    description: '',
    permissions: { USE: true, CREATE: false },
    version: 1,
    createdAt: 1_000,
    updatedAt: 1_000,
    updatedBy: 'u1',
    ...overrides,
  };
  return { id: roleId(record.tenant, record.name), ...record };
}

export function rolesSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`RoleStore on ${label}`, () => {
    const store = useStore(open);

    test('a role is read back as it was written, in its tenant alone, undecided bits included', async () => {
      const none = aRole({ name: 'A', permissions: {}, description: '"$&" ünïcode 李' });
      expect(await store().roles.insert(aRole())).toBe('inserted');
      expect(await store().roles.insert(none)).toBe('inserted');
      expect(await store().roles.insert(aRole({ tenant: 'other' }))).toBe('inserted');
      expect(await store().roles.find('default', 'EDITORS')).toEqual(aRole());
      expect(await store().roles.find('default', 'A')).toEqual(none);
      expect(await store().roles.find('other', 'A')).toBeNull();
      expect(await store().roles.list()).toEqual([none, aRole(), aRole({ tenant: 'other' })]);
      expect(await store().roles.remove('default', 'EDITORS')).toBe(true);
      expect(await store().roles.remove('default', 'EDITORS')).toBe(false);
      expect(await store().roles.list()).toEqual([none, aRole({ tenant: 'other' })]);
    });

    test('of 20 parallel inserts of one name, one wins', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store().roles.insert(aRole({ updatedBy: `u${i}` }))),
      );
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(19);
      expect(await store().roles.find('default', 'EDITORS')).toEqual(
        aRole({ updatedBy: `u${outcomes.indexOf('inserted')}` }),
      );
    });

    test('of 20 parallel changes of one version, one is made', async () => {
      await store().roles.insert(aRole());
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          store().roles.replace(aRole({ version: 2, permissions: { [`BIT_${i}`]: true } }), 1),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'replaced')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'version_conflict')).toHaveLength(19);
      // The permissions are replaced, not merged.
      expect(await store().roles.find('default', 'EDITORS')).toEqual(
        aRole({ version: 2, permissions: { [`BIT_${outcomes.indexOf('replaced')}`]: true } }),
      );
      expect(await store().roles.replace(aRole({ tenant: 'other' }), 2)).toBe('missing');
    });
  });
}

export function anAclRow(overrides: Partial<Omit<AclRecord, 'id'>> = {}): AclRecord {
  const record = {
    tenant: 'default',
    serverId: 's1',
    principalType: 'user' as const,
    principalId: 'u1',
    bits: 1,
    grantedBy: 'u0',
    grantedAt: 1_000,
    ...overrides,
  };
  return { id: aclId(record), ...record };
}

export function aclSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`AclStore on ${label}`, () => {
    const store = useStore(open);
    const put = (...rows: AclRecord[]) => store().acl.change({ put: rows, remove: [] });
    const ofEveryone = anAclRow({ principalType: 'public', principalId: '' });
    const ofGroup = anAclRow({ principalType: 'group', principalId: '["$&",\'ünï\'] 李', bits: 15 });

    test('rows are read back as they were written, replaced and taken away in one change', async () => {
      await store().acl.change({ put: [], remove: [] });
      const otherServer = anAclRow({ serverId: 's2' });
      await put(anAclRow(), ofEveryone, ofGroup, otherServer);
      const ordered = [anAclRow(), ofEveryone, ofGroup].sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(await store().acl.listByServer('default', 's1')).toEqual(ordered);
      expect(await store().acl.list()).toEqual([...ordered, otherServer]);
      expect(await store().acl.listByServer('other', 's1')).toEqual([]);
      const wider = anAclRow({ bits: 3, grantedBy: 'u9', grantedAt: 2_000 });
      await store().acl.change({ put: [wider], remove: [ofEveryone.id, ofGroup.id, 'unknown'] });
      expect(await store().acl.listByServer('default', 's1')).toEqual([wider]);
      // A row that is both put and removed is removed.
      await store().acl.change({ put: [wider, ofEveryone], remove: [wider.id] });
      expect(await store().acl.listByServer('default', 's1')).toEqual([ofEveryone]);
    });

    test('50 parallel writes of one row leave one', async () => {
      await Promise.all(Array.from({ length: 50 }, (_, i) => put(anAclRow({ bits: i }), ofEveryone)));
      expect(await store().acl.list()).toHaveLength(2);
    });

    test('a second row of one key is refused, whatever it calls itself, and what came with it is not written', async () => {
      await put(anAclRow());
      const duplicate = { ...anAclRow({ bits: 15 }), id: 'another' };
      await expect(store().acl.change({ put: [ofGroup, duplicate], remove: [] })).rejects.toThrow();
      // MongoDB has no transaction here, so the first row may remain. No row may be duplicated.
      const remaining = (await store().acl.list()).filter(({ id }) => id !== ofGroup.id);
      expect(remaining).toEqual([anAclRow()]);
      if (store().kind !== 'mongo') expect(await store().acl.list()).toHaveLength(1);
    });

    test('a removal takes the rows of one server or one principal of one tenant', async () => {
      const rows = [
        anAclRow(),
        ofEveryone,
        anAclRow({ serverId: 's2' }),
        anAclRow({ tenant: 'other' }),
        anAclRow({ principalType: 'role' }),
        anAclRow({ serverId: 's3', principalId: 'u2' }),
      ];
      await put(...rows);
      expect(await store().acl.removeByPrincipal('default', 'user', 'u1')).toBe(2);
      expect(await store().acl.removeByPrincipal('default', 'user', 'u1')).toBe(0);
      expect(await store().acl.removeByServer('default', 's1')).toBe(2);
      expect(await store().acl.list()).toEqual([
        anAclRow({ serverId: 's3', principalId: 'u2' }),
        anAclRow({ tenant: 'other' }),
      ]);
    });
  });
}
