import { overrideId, type OverrideRecord, type PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function anOverride(overrides: Partial<Omit<OverrideRecord, 'id'>> = {}): OverrideRecord {
  const record = {
    tenant: 'default',
    name: 'files',
    version: 1,
    configSealed: 'v1.sealed',
    createdAt: 1_000,
    updatedAt: 1_000,
    updatedBy: 'u1',
    securedBy: 'u1',
    securedAt: 1_000,
    ...overrides,
  };
  return { id: overrideId(record.tenant, record.name), ...record };
}

export function overridesSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`OverrideStore on ${label}`, () => {
    const store = useStore(open);
    const twenty = <T>(work: (i: number) => Promise<T>) =>
      Promise.all(Array.from({ length: 20 }, (_, i) => work(i)));
    const count = <T>(outcomes: readonly T[], wanted: T) =>
      outcomes.filter((outcome) => outcome === wanted).length;

    test('a change is read back as it was written, in its tenant alone', async () => {
      const odd = anOverride({ name: 'a', configSealed: 'v1."$&" ünïcode 李' });
      expect(await store().overrides.put(anOverride(), null)).toBe('stored');
      expect(await store().overrides.put(odd, null)).toBe('stored');
      expect(await store().overrides.find('default', 'a')).toEqual(odd);
      expect(await store().overrides.find('other', 'a')).toBeNull();
      expect(await store().overrides.list()).toEqual([odd, anOverride()]);
      const next = anOverride({
        version: 2,
        configSealed: 'v1.next',
        updatedBy: 'u2',
        securedBy: 'u2',
        securedAt: 7,
      });
      expect(await store().overrides.put(next, 1)).toBe('stored');
      expect(await store().overrides.find('default', 'files')).toEqual(next);
    });

    test('of 20 parallel first changes, one is made', async () => {
      const outcomes = await twenty((i) =>
        store().overrides.put(anOverride({ configSealed: `v1.${i}` }), null),
      );
      expect([count(outcomes, 'stored'), count(outcomes, 'version_conflict')]).toEqual([1, 19]);
      expect((await store().overrides.list()).map(({ configSealed }) => configSealed)).toEqual([
        `v1.${outcomes.indexOf('stored')}`,
      ]);
    });

    test('of 20 parallel changes of one version, one is made; what is not there has no version', async () => {
      expect(await store().overrides.put(anOverride(), 1)).toBe('version_conflict');
      await store().overrides.put(anOverride(), null);
      const outcomes = await twenty((i) =>
        store().overrides.put(anOverride({ version: 2, configSealed: `v1.${i}` }), 1),
      );
      expect([count(outcomes, 'stored'), count(outcomes, 'version_conflict')]).toEqual([1, 19]);
      expect((await store().overrides.find('default', 'files'))?.configSealed).toBe(
        `v1.${outcomes.indexOf('stored')}`,
      );
    });

    test('a removal names the version it saw, and one is made', async () => {
      await store().overrides.put(anOverride({ version: 2 }), null);
      await store().overrides.put(anOverride({ tenant: 'other', version: 2 }), null);
      expect(await store().overrides.remove('default', 'files', 1)).toBe('version_conflict');
      const outcomes = await twenty(() => store().overrides.remove('default', 'files', 2));
      expect([count(outcomes, 'removed'), count(outcomes, 'missing')]).toEqual([1, 19]);
      expect(await store().overrides.list()).toEqual([anOverride({ tenant: 'other', version: 2 })]);
    });
  });
}
