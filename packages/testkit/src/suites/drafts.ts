import type { DraftRecord, PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function aDraft(overrides: Partial<DraftRecord> = {}): DraftRecord {
  return {
    id: 'd1',
    tenant: 'default',
    userId: 'u1',
    canonicalUrl: 'https://mcp.example/mcp',
    sealed: 'v1.draft',
    createdAt: 1_000,
    expiresAt: 9e12,
    takenAt: null,
    ...overrides,
  };
}

const MAX_PER_USER = 100;

export function draftsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`DraftStore on ${label}`, () => {
    const store = useStore(open);
    const insert = async (...records: DraftRecord[]) => {
      for (const record of records)
        expect(await store().drafts.insert(record, MAX_PER_USER)).toBe('inserted');
    };

    test('what is inserted is found unchanged, by tenant and by user', async () => {
      const odd = aDraft({
        id: 'd2',
        sealed: 'v1."$&" ünïcode 李',
        canonicalUrl: 'https://ünï.example/$x',
      });
      await insert(odd, aDraft(), aDraft({ id: 'd3', userId: 'u2' }), aDraft({ id: 'd4', tenant: 'other' }));
      expect(await store().drafts.find('default', 'd2')).toEqual(odd);
      expect(await store().drafts.find('other', 'd2')).toBeNull();
      expect(await store().drafts.findById('d2')).toEqual(odd);
      expect(await store().drafts.findById('unknown')).toBeNull();
      expect(await store().drafts.listByUser('default', 'u1')).toEqual([aDraft(), odd]);
      expect(await store().drafts.remove('other', 'd2')).toBe(false);
      expect(await store().drafts.remove('default', 'd2')).toBe(true);
      expect(await store().drafts.listByUser('default', 'u1')).toEqual([aDraft()]);
      await expect(store().drafts.insert(aDraft(), MAX_PER_USER)).rejects.toThrow();
    });

    test('of 20 parallel takers, one succeeds, and it is its user', async () => {
      await insert(aDraft());
      expect(await store().drafts.consume('default', 'd1', 'u2', 2_000)).toBe(false);
      expect(await store().drafts.consume('other', 'd1', 'u1', 2_000)).toBe(false);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => store().drafts.consume('default', 'd1', 'u1', 2_000)),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await store().drafts.find('default', 'd1')).toEqual(
        aDraft({ takenAt: 2_000, expiresAt: 2_000 }),
      );
    });

    test('what is over is not taken, and is listed for whoever ends it', async () => {
      await insert(
        aDraft({ id: 'over', expiresAt: 2_000 }),
        aDraft({ id: 'also', expiresAt: 1_500 }),
        aDraft(),
      );
      expect(await store().drafts.consume('default', 'over', 'u1', 2_000)).toBe(false);
      const ids = async (expiredBy: number, limit = 10) =>
        (await store().drafts.listExpired(expiredBy, limit)).map(({ id }) => id);
      expect(await ids(1_499)).toEqual([]);
      expect(await ids(2_000)).toEqual(['also', 'over']);
      expect(await ids(2_000, 1)).toEqual(['also']);
    });

    test('of parallel insertions no more are kept than one may have open', async () => {
      await insert(aDraft({ id: 'over', expiresAt: 1_000 }), aDraft({ id: 'theirs', userId: 'u2' }));
      const ids = Array.from({ length: 20 }, (_, i) => `c${i}`);
      const outcomes = await Promise.all(ids.map((id) => store().drafts.insert(aDraft({ id }), 3)));
      const remaining = (await store().drafts.listByUser('default', 'u1')).filter(({ id }) => id !== 'over');
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(remaining.length);
      expect(remaining.length).toBeLessThanOrEqual(3);
      for (let i = remaining.length; i < 3; i += 1) {
        expect(await store().drafts.insert(aDraft({ id: `e${i}` }), 3)).toBe('inserted');
      }
      expect(await store().drafts.insert(aDraft({ id: 'f' }), 3)).toBe('full');
    });
  });
}
