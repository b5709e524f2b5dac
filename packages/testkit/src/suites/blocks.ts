import type { BlockRecord, PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect } from '@jest/globals';
import { verifies } from '../verifies.ts';
import { openedStore, type OpenStore } from './opened.ts';

export function aBlock(over: Partial<BlockRecord> = {}): BlockRecord {
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
    ...over,
  };
}

const MOST = 1_000;

export function blocksSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`BlockStore on ${label}`, () => {
    const store = openedStore(open);
    const insert = async (...records: BlockRecord[]) => {
      for (const record of records) expect(await store().blocks.insert(record, MOST)).toBe('inserted');
    };
    const find = (id = 'b1', tenant = 'default') => store().blocks.find(tenant, id);

    verifies(
      'stores.blocks.round-trip',
      'what is inserted is found unchanged, one by one and several in the order of their ids',
      async () => {
        const odd = aBlock({ id: 'b2', sealed: 'v1."$&" ünïcode 李', tool: 'a/b' });
        await insert(odd, aBlock());
        expect(await find('b2')).toEqual(odd);
        expect(await find('unknown')).toBeNull();
        expect(await store().blocks.findMany('default', ['unknown', 'b2', 'b1', 'b2'])).toEqual([
          aBlock(),
          odd,
        ]);
        expect(await store().blocks.findMany('default', [])).toEqual([]);
        await expect(store().blocks.insert(aBlock({ sealed: 'v1.twin' }), MOST)).rejects.toThrow();
        expect(await store().blocks.remove('default', 'b1')).toBe(true);
        expect(await store().blocks.remove('default', 'b1')).toBe(false);
        expect(await store().blocks.findMany('default', ['b1', 'b2'])).toEqual([odd]);
      },
    );

    verifies(
      'stores.blocks.apart',
      'with the id of another tenant’s block nobody reads, changes or removes it',
      async () => {
        await insert(aBlock());
        expect(await find('b1', 'other')).toBeNull();
        expect(await store().blocks.findMany('other', ['b1'])).toEqual([]);
        expect(await store().blocks.replace(aBlock({ tenant: 'other', version: 2 }), 1)).toBe('missing');
        expect(await store().blocks.remove('other', 'b1')).toBe(false);
        expect(await find()).toEqual(aBlock());
      },
    );

    verifies('stores.blocks.version', 'of 20 parallel changes of one version, one is made', async () => {
      await insert(aBlock());
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          store().blocks.replace(aBlock({ version: 2, sealed: `v1.${i}` }), 1),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'replaced')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'version_conflict')).toHaveLength(19);
      const winner = outcomes.indexOf('replaced');
      expect(await find()).toEqual(aBlock({ version: 2, sealed: `v1.${winner}` }));
      expect(await store().blocks.replace(aBlock({ id: 'nobody' }), 2)).toBe('missing');
    });

    verifies(
      'stores.blocks.limits',
      'of parallel insertions no more are kept than one may have',
      async () => {
        await insert(aBlock({ id: 'theirs', owner: 'u2' }), aBlock({ id: 'elsewhere', tenant: 'other' }));
        const ids = Array.from({ length: 20 }, (_, i) => `c${i}`);
        const outcomes = await Promise.all(ids.map((id) => store().blocks.insert(aBlock({ id }), 5)));
        const kept = await store().blocks.findMany('default', ids);
        expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(kept.length);
        expect(kept.length).toBeLessThanOrEqual(5);
        for (let i = kept.length; i < 5; i += 1) {
          expect(await store().blocks.insert(aBlock({ id: `d${i}` }), 5)).toBe('inserted');
        }
        expect(await store().blocks.insert(aBlock({ id: 'e' }), 5)).toBe('full');
        expect(await store().raw.count('blocks')).toBe(7);
      },
    );
  });
}
