import type { BlockRecord, OwnedRecord, OwnedStore, PrimaryStore, SetRecord } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function aBlock(overrides: Partial<BlockRecord> = {}): BlockRecord {
  return {
    id: 'b1',
    tenant: 'default',
    owner: 'u1',
    serverId: 's1',
    tool: 'echo',
    version: 1,
    sealed: 'v1.block',
    createdAt: 1_000,
    updatedAt: 1_000,
    updatedBy: 'u1',
    ...overrides,
  };
}

export function aSet(overrides: Partial<SetRecord> = {}): SetRecord {
  const { serverId: _server, tool: _tool, ...set } = aBlock({ sealed: 'v1.set' });
  return { ...set, ...overrides };
}

const MAX_PER_OWNER = 1_000;

/** What is saved by an owner keeps the same promises, whatever it is. */
export function blocksSuite(label: string, open: OpenStore<PrimaryStore>): void {
  ownedSuite(`blocks on ${label}`, open, 'blocks', aBlock);
  ownedSuite(`sets on ${label}`, open, 'sets', aSet);
}

function ownedSuite(
  label: string,
  open: OpenStore<PrimaryStore>,
  name: 'blocks' | 'sets',
  a: (overrides?: Partial<OwnedRecord>) => OwnedRecord,
): void {
  describe(`OwnedStore of ${label}`, () => {
    const store = useStore(open);
    const owned = () => store()[name] as unknown as OwnedStore<OwnedRecord>;
    const insert = async (...records: OwnedRecord[]) => {
      for (const record of records) expect(await owned().insert(record, MAX_PER_OWNER)).toBe('inserted');
    };
    const find = (id = 'b1', tenant = 'default') => owned().find(tenant, id);

    test('what is inserted is found unchanged, one by one and several in the order of their ids', async () => {
      const odd = a({ id: 'b2', sealed: 'v1."$&" ünïcode 李' });
      await insert(odd, a());
      expect(await find('b2')).toEqual(odd);
      expect(await find('unknown')).toBeNull();
      expect(await owned().findMany('default', ['unknown', 'b2', 'b1', 'b2'])).toEqual([a(), odd]);
      expect(await owned().findMany('default', [])).toEqual([]);
      await expect(owned().insert(a({ sealed: 'v1.twin' }), MAX_PER_OWNER)).rejects.toThrow();
      expect(await owned().remove('default', 'b1')).toBe(true);
      expect(await owned().remove('default', 'b1')).toBe(false);
      expect(await owned().findMany('default', ['b1', 'b2'])).toEqual([odd]);
    });

    test('with the id of another tenant’s block nobody reads, changes or removes it', async () => {
      await insert(a());
      expect(await find('b1', 'other')).toBeNull();
      expect(await owned().findMany('other', ['b1'])).toEqual([]);
      expect(await owned().replace(a({ tenant: 'other', version: 2 }), 1)).toBe('missing');
      expect(await owned().remove('other', 'b1')).toBe(false);
      expect(await find()).toEqual(a());
    });

    test('of 20 parallel changes of one version, one is made', async () => {
      await insert(a());
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => owned().replace(a({ version: 2, sealed: `v1.${i}` }), 1)),
      );
      expect(outcomes.filter((outcome) => outcome === 'replaced')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'version_conflict')).toHaveLength(19);
      const winner = outcomes.indexOf('replaced');
      expect(await find()).toEqual(a({ version: 2, sealed: `v1.${winner}` }));
      expect(await owned().replace(a({ id: 'nobody' }), 2)).toBe('missing');
    });

    test('of parallel insertions no more are kept than one may have', async () => {
      await insert(a({ id: 'theirs', owner: 'u2' }), a({ id: 'elsewhere', tenant: 'other' }));
      const ids = Array.from({ length: 20 }, (_, i) => `c${i}`);
      const outcomes = await Promise.all(ids.map((id) => owned().insert(a({ id }), 5)));
      const remaining = await owned().findMany('default', ids);
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(remaining.length);
      expect(remaining.length).toBeLessThanOrEqual(5);
      for (let i = remaining.length; i < 5; i += 1) {
        expect(await owned().insert(a({ id: `d${i}` }), 5)).toBe('inserted');
      }
      expect(await owned().insert(a({ id: 'e' }), 5)).toBe('full');
      expect(await store().raw.count(name)).toBe(7);
    });
  });
}
