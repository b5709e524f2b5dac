import { roleId, type PrimaryStore, type RoleRecord } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

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
      // The map is replaced, not mixed with what was there.
      expect(await store().roles.find('default', 'EDITORS')).toEqual(
        aRole({ version: 2, permissions: { [`BIT_${outcomes.indexOf('replaced')}`]: true } }),
      );
      expect(await store().roles.replace(aRole({ tenant: 'other' }), 2)).toBe('missing');
    });
  });
}
