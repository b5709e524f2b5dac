import type { AuthorizationServerRecord, PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { openedStore, type OpenStore } from './opened.ts';

export function aFacadeRecord(over: Partial<AuthorizationServerRecord> = {}): AuthorizationServerRecord {
  return {
    key: 'Code:h1',
    kind: 'Code',
    family: 'g1',
    sealed: 'v1.payload',
    consumedAt: null,
    createdAt: 1_000,
    expiresAt: 9e12,
    ...over,
  };
}

export function facadeSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`FacadeStore on ${label}`, () => {
    const store = openedStore(open);

    test('what is put is found unchanged until its end, and what is put again takes its place', async () => {
      const { authorizationServer: facade } = store();
      const odd = aFacadeRecord({ key: 'Client:h2', kind: 'Client', family: null, sealed: 'v1."$&" 李' });
      await facade.put(odd);
      await facade.put(aFacadeRecord({ consumedAt: 5 }));
      await facade.put(aFacadeRecord());
      expect(await facade.find('Client:h2', 9e12 - 1)).toEqual(odd);
      expect(await facade.find('Client:h2', 9e12)).toBeNull();
      expect(await facade.find('Code:h1', 0)).toEqual(aFacadeRecord());
      expect(await facade.remove('Code:h1')).toBe(true);
      expect(await facade.remove('Code:h1')).toBe(false);
      expect(await facade.find('Code:h1', 0)).toBeNull();
    });

    test('of 20 parallel insertions one is in, and the others see it', async () => {
      const { authorizationServer: facade } = store();
      const records = Array.from({ length: 20 }, (_, i) => aFacadeRecord({ sealed: `v1.${i}` }));
      const outcomes = await Promise.all(records.map((record) => facade.insert(record, 2_000)));
      const won = records.filter((_, i) => outcomes[i] === null);
      expect(won).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome !== null)).toEqual(Array(19).fill(won[0]));
      expect(await facade.find('Code:h1', 0)).toEqual(won[0]);
    });

    test('one that is over is in nobody’s way', async () => {
      const { authorizationServer: facade } = store();
      expect(await facade.insert(aFacadeRecord({ expiresAt: 8e12 }), 0)).toBeNull();
      const next = aFacadeRecord({ sealed: 'v1.next' });
      expect(await facade.insert(next, 8e12 - 1)).toEqual(aFacadeRecord({ expiresAt: 8e12 }));
      expect(await facade.insert(next, 8e12)).toBeNull();
      expect(await facade.find('Code:h1', 8e12)).toEqual(next);
    });

    test('of 20 callers one uses it up', async () => {
      const { authorizationServer: facade } = store();
      await facade.put(aFacadeRecord());
      const taken = await Promise.all(Array.from({ length: 20 }, () => facade.consume('Code:h1', 3_000)));
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await facade.find('Code:h1', 0)).toEqual(aFacadeRecord({ consumedAt: 3_000 }));
      expect(await facade.consume('unknown', 3_000)).toBe(false);
      await facade.put(aFacadeRecord({ key: 'Code:h2', expiresAt: 4_000 }));
      expect(await facade.consume('Code:h2', 4_000)).toBe(false);
    });

    test('those of one kind and family are listed and end together, no others', async () => {
      const { authorizationServer: facade } = store();
      const second = aFacadeRecord({ key: 'Code:h0', createdAt: 2_000 });
      const others = [
        aFacadeRecord({ key: 'Code:h3', family: 'g2' }),
        aFacadeRecord({ key: 'Code:h4', family: null }),
        aFacadeRecord({ key: 'Token:h5', kind: 'Token' }),
      ];
      for (const record of [second, aFacadeRecord(), ...others]) await facade.put(record);
      await facade.put(aFacadeRecord({ key: 'Code:h6', expiresAt: 5_000 }));
      expect(await facade.list('Code', 'g1', 5_000)).toEqual([aFacadeRecord(), second]);
      expect(await facade.count('Code')).toBe(5);
      expect(await facade.removeExpired(5_000)).toBe(1);
      expect(await facade.removeFamily('Code', 'g1')).toBe(2);
      expect(await facade.list('Code', 'g1', 0)).toEqual([]);
      for (const record of others) expect(await facade.find(record.key, 0)).toEqual(record);
    });

    test('of one kind those that end first are removed, and none that ends later than is said', async () => {
      const { authorizationServer: facade } = store();
      const ending = (at: number, kind = 'Code') =>
        aFacadeRecord({ key: `${kind}:${at}`, kind, expiresAt: at });
      const codes = [7_000, 3_000, 5_000, 4_000, 6_000].map((at) => ending(at));
      for (const record of [...codes, ending(1_000, 'Token')]) await facade.put(record);
      const left = async () => (await facade.list('Code', 'g1', 0)).map(({ expiresAt }) => expiresAt).sort();
      expect(await facade.removeEarliest('Code', 2, 7_000)).toBe(2);
      expect(await left()).toEqual([5_000, 6_000, 7_000]);
      expect(await facade.removeEarliest('Code', 5, 6_000)).toBe(2);
      expect(await left()).toEqual([7_000]);
      expect(await facade.removeEarliest('Code', 5, 6_999)).toBe(0);
      expect(await facade.count('Token')).toBe(1);
    });

    test('of 20 callers each removes another one', async () => {
      const { authorizationServer: facade } = store();
      for (let i = 0; i < 30; i += 1)
        await facade.put(aFacadeRecord({ key: `Code:${i}`, expiresAt: 1_000 + i }));
      const removed = await Promise.all(
        Array.from({ length: 20 }, () => facade.removeEarliest('Code', 1, 9_000)),
      );
      expect(removed).toEqual(Array(20).fill(1));
      expect(await facade.count('Code')).toBe(10);
    });
  });
}
