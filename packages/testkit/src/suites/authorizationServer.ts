import type { AuthorizationServerRecord, PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function anAuthorizationServerRecord(
  overrides: Partial<AuthorizationServerRecord> = {},
): AuthorizationServerRecord {
  return {
    key: 'Code:h1',
    kind: 'Code',
    family: 'g1',
    sealed: 'v1.payload',
    consumedAt: null,
    createdAt: 1_000,
    expiresAt: 9e12,
    ...overrides,
  };
}

export function authorizationServerSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`FacadeStore on ${label}`, () => {
    const store = useStore(open);

    test('what is put is found unchanged until its end, and what is put again takes its place', async () => {
      const { authorizationServer } = store();
      const odd = anAuthorizationServerRecord({
        key: 'Client:h2',
        kind: 'Client',
        family: null,
        sealed: 'v1."$&" 李',
      });
      await authorizationServer.put(odd);
      await authorizationServer.put(anAuthorizationServerRecord({ consumedAt: 5 }));
      await authorizationServer.put(anAuthorizationServerRecord());
      expect(await authorizationServer.find('Client:h2', 9e12 - 1)).toEqual(odd);
      expect(await authorizationServer.find('Client:h2', 9e12)).toBeNull();
      expect(await authorizationServer.find('Code:h1', 0)).toEqual(anAuthorizationServerRecord());
      expect(await authorizationServer.remove('Code:h1')).toBe(true);
      expect(await authorizationServer.remove('Code:h1')).toBe(false);
      expect(await authorizationServer.find('Code:h1', 0)).toBeNull();
    });

    test('of 20 parallel insertions one is in, and the others see it', async () => {
      const { authorizationServer } = store();
      const records = Array.from({ length: 20 }, (_, i) =>
        anAuthorizationServerRecord({ sealed: `v1.${i}` }),
      );
      const outcomes = await Promise.all(records.map((record) => authorizationServer.insert(record, 2_000)));
      const inserted = records.filter((_, i) => outcomes[i] === null);
      expect(inserted).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome !== null)).toEqual(Array(19).fill(inserted[0]));
      expect(await authorizationServer.find('Code:h1', 0)).toEqual(inserted[0]);
    });

    test('one that is over is in nobody’s way', async () => {
      const { authorizationServer } = store();
      expect(
        await authorizationServer.insert(anAuthorizationServerRecord({ expiresAt: 8e12 }), 0),
      ).toBeNull();
      const next = anAuthorizationServerRecord({ sealed: 'v1.next' });
      expect(await authorizationServer.insert(next, 8e12 - 1)).toEqual(
        anAuthorizationServerRecord({ expiresAt: 8e12 }),
      );
      expect(await authorizationServer.insert(next, 8e12)).toBeNull();
      expect(await authorizationServer.find('Code:h1', 8e12)).toEqual(next);
    });

    test('of 20 callers one uses it up', async () => {
      const { authorizationServer } = store();
      await authorizationServer.put(anAuthorizationServerRecord());
      const consumed = await Promise.all(
        Array.from({ length: 20 }, () => authorizationServer.consume('Code:h1', 3_000)),
      );
      expect(consumed.filter(Boolean)).toHaveLength(1);
      expect(await authorizationServer.find('Code:h1', 0)).toEqual(
        anAuthorizationServerRecord({ consumedAt: 3_000 }),
      );
      expect(await authorizationServer.consume('unknown', 3_000)).toBe(false);
      await authorizationServer.put(anAuthorizationServerRecord({ key: 'Code:h2', expiresAt: 4_000 }));
      expect(await authorizationServer.consume('Code:h2', 4_000)).toBe(false);
    });

    test('those of one kind and family are listed and end together, no others', async () => {
      const { authorizationServer } = store();
      const second = anAuthorizationServerRecord({ key: 'Code:h0', createdAt: 2_000 });
      const others = [
        anAuthorizationServerRecord({ key: 'Code:h3', family: 'g2' }),
        anAuthorizationServerRecord({ key: 'Code:h4', family: null }),
        anAuthorizationServerRecord({ key: 'Token:h5', kind: 'Token' }),
      ];
      for (const record of [second, anAuthorizationServerRecord(), ...others])
        await authorizationServer.put(record);
      await authorizationServer.put(anAuthorizationServerRecord({ key: 'Code:h6', expiresAt: 5_000 }));
      expect(await authorizationServer.list('Code', 'g1', 5_000)).toEqual([
        anAuthorizationServerRecord(),
        second,
      ]);
      expect(await authorizationServer.count('Code')).toBe(5);
      expect(await authorizationServer.removeExpired(5_000)).toBe(1);
      expect(await authorizationServer.removeFamily('Code', 'g1')).toBe(2);
      expect(await authorizationServer.list('Code', 'g1', 0)).toEqual([]);
      for (const record of others) expect(await authorizationServer.find(record.key, 0)).toEqual(record);
    });

    test('of one kind those that end first are removed, and none that ends later than is said', async () => {
      const { authorizationServer } = store();
      const expiringAt = (at: number, kind = 'Code') =>
        anAuthorizationServerRecord({ key: `${kind}:${at}`, kind, expiresAt: at });
      const codes = [7_000, 3_000, 5_000, 4_000, 6_000].map((at) => expiringAt(at));
      for (const record of [...codes, expiringAt(1_000, 'Token')]) await authorizationServer.put(record);
      const remaining = async () =>
        (await authorizationServer.list('Code', 'g1', 0)).map(({ expiresAt }) => expiresAt).sort();
      expect(await authorizationServer.removeEarliest('Code', 2, 7_000)).toBe(2);
      expect(await remaining()).toEqual([5_000, 6_000, 7_000]);
      expect(await authorizationServer.removeEarliest('Code', 5, 6_000)).toBe(2);
      expect(await remaining()).toEqual([7_000]);
      expect(await authorizationServer.removeEarliest('Code', 5, 6_999)).toBe(0);
      expect(await authorizationServer.count('Token')).toBe(1);
    });

    test('of 20 callers each removes another one', async () => {
      const { authorizationServer } = store();
      for (let i = 0; i < 30; i += 1)
        await authorizationServer.put(
          anAuthorizationServerRecord({ key: `Code:${i}`, expiresAt: 1_000 + i }),
        );
      const removed = await Promise.all(
        Array.from({ length: 20 }, () => authorizationServer.removeEarliest('Code', 1, 9_000)),
      );
      expect(removed).toEqual(Array(20).fill(1));
      expect(await authorizationServer.count('Code')).toBe(10);
    });
  });
}
