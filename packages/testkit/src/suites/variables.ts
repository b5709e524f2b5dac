import { variableId, type PrimaryStore, type UserVariableRecord } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function aVariable(overrides: Partial<Omit<UserVariableRecord, 'id'>> = {}): UserVariableRecord {
  const record = {
    tenant: 'default',
    userId: 'u1',
    serverId: 's1',
    name: 'TOKEN',
    valueSealed: 'v1.sealed',
    updatedAt: 1_000,
    ...overrides,
  };
  return { id: variableId(record), ...record };
}

export function variablesSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`UserVariableStore on ${label}`, () => {
    const store = useStore(open);
    const list = (tenant = 'default', userId = 'u1', serverId = 's1') =>
      store().variables.list(tenant, userId, serverId);

    test('values are read back as they were written, by name, and replaced', async () => {
      const odd = aVariable({ name: 'B', valueSealed: 'v1."$&" ünïcode 李' });
      await store().variables.put([]);
      await store().variables.put([odd, aVariable({ name: 'A' })]);
      expect(await list()).toEqual([aVariable({ name: 'A' }), odd]);
      await store().variables.put([aVariable({ name: 'A', valueSealed: 'v1.new', updatedAt: 2 })]);
      expect(await list()).toEqual([aVariable({ name: 'A', valueSealed: 'v1.new', updatedAt: 2 }), odd]);
    });

    test('50 parallel writes of one value leave one row', async () => {
      await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          store().variables.put([aVariable({ valueSealed: `v1.${i}` }), aVariable({ name: 'OTHER' })]),
        ),
      );
      expect((await list()).map(({ name }) => name)).toEqual(['OTHER', 'TOKEN']);
      expect(await store().raw.count('variables')).toBe(2);
    });

    test('a second row of one key is refused, whatever it calls itself', async () => {
      await store().variables.put([aVariable()]);
      await expect(
        store().variables.put([{ ...aVariable({ valueSealed: 'v1.twin' }), id: 'another' }]),
      ).rejects.toThrow();
      expect(await list()).toEqual([aVariable()]);
    });

    test('another tenant, user or server has values of its own, and removal takes only what it names', async () => {
      const others = [
        aVariable({ tenant: 'other' }),
        aVariable({ userId: 'u2' }),
        aVariable({ serverId: 's2' }),
      ];
      await store().variables.put([aVariable(), aVariable({ name: 'SECOND' }), ...others]);
      expect(await list('other')).toEqual([others[0]]);
      expect(await list('default', 'u2')).toEqual([others[1]]);
      expect(await list('default', 'u1', 's2')).toEqual([others[2]]);
      expect(await store().variables.remove('default', 'u1', 's1', 'SECOND')).toBe(true);
      expect(await store().variables.remove('default', 'u1', 's1', 'SECOND')).toBe(false);
      expect(await list()).toEqual([aVariable()]);
      expect(await store().variables.removeAll('default', 'u1', 's1')).toBe(1);
      expect(await store().raw.count('variables')).toBe(3);
      await store().variables.put([aVariable()]);
      expect(await store().variables.removeByServer('default', 's1')).toBe(2);
      expect(await store().variables.removeByUser('default', 'u1')).toBe(1);
      expect(await store().raw.page('variables', null, 10)).toEqual([others[0]]);
    });
  });
}
