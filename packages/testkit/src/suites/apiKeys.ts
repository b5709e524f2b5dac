import type { ApiKeyRecord, PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function anApiKey(overrides: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    id: 'k1',
    hash: 'hash of k1',
    tenant: 'default',
    userId: 'u1',
    name: 'laptop',
    hint: 'wxyz',
    scopes: ['mcp', 'servers'],
    createdAt: 1_000,
    expiresAt: 9_000,
    lastUsedAt: null,
    ...overrides,
  };
}

export function apiKeysSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`ApiKeyStore on ${label}`, () => {
    const store = useStore(open);
    const second = anApiKey({ id: 'k0', hash: 'hash of k0', createdAt: 2_000, scopes: [], name: '' });

    test('keys are read back as they were written, the oldest first', async () => {
      await store().apiKeys.insert(second);
      await store().apiKeys.insert(anApiKey());
      await store().apiKeys.insert(anApiKey({ id: 'k2', hash: 'hash of k2', userId: 'u2' }));
      expect(await store().apiKeys.findByHash('hash of k1', 0)).toEqual(anApiKey());
      expect(await store().apiKeys.findByHash('k1', 0)).toBeNull();
      expect(await store().apiKeys.list('u1')).toEqual([anApiKey(), second]);
    });

    test('two keys never share a hash or an id', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => store().apiKeys.insert(anApiKey({ id: `k${i}` }))),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const [remaining] = await store().apiKeys.list('u1');
      await expect(
        store().apiKeys.insert(anApiKey({ id: remaining!.id, hash: 'another', userId: 'u2' })),
      ).rejects.toThrow();
      expect(await store().raw.page('apiKeys', null, 10)).toEqual([remaining]);
    });

    test('a key is found until its end and not at it, listed still, and swept', async () => {
      await store().apiKeys.insert(anApiKey());
      await store().apiKeys.insert({ ...second, expiresAt: 9_001 });
      expect(await store().apiKeys.findByHash('hash of k1', 8_999)).toEqual(anApiKey());
      expect(await store().apiKeys.findByHash('hash of k1', 9_000)).toBeNull();
      expect(await store().apiKeys.list('u1')).toHaveLength(2);
      expect(await store().apiKeys.removeExpired(9_000)).toBe(1);
      expect((await store().apiKeys.list('u1')).map(({ id }) => id)).toEqual(['k0']);
    });

    test('a user removes keys of their own alone, and each is removed once', async () => {
      await store().apiKeys.insert(anApiKey());
      await store().apiKeys.insert(second);
      const other = anApiKey({ id: 'k2', hash: 'hash of k2', userId: 'u2' });
      await store().apiKeys.insert(other);
      expect(await store().apiKeys.remove('u2', 'k1')).toBeNull();
      const removed = await Promise.all(Array.from({ length: 10 }, () => store().apiKeys.remove('u1', 'k1')));
      expect(removed.filter((key) => key !== null)).toEqual([anApiKey()]);
      expect(await store().apiKeys.findByHash('hash of k1', 0)).toBeNull();
      expect(await store().apiKeys.removeByUser('u1')).toBe(1);
      expect(await store().raw.page('apiKeys', null, 10)).toEqual([other]);
    });

    test('which keys of many are live', async () => {
      await store().apiKeys.insert(anApiKey());
      await store().apiKeys.insert({ ...second, expiresAt: 9_001 });
      const active = async (ids: string[], now: number) =>
        (await store().apiKeys.filterActive(ids, now)).sort();
      expect(await active(['k1', 'unknown', 'k0'], 8_999)).toEqual(['k0', 'k1']);
      expect(await active(['k1', 'k0'], 9_000)).toEqual(['k0']);
      expect(await active(['k1'], 0)).toEqual(['k1']);
      expect(await active([], 0)).toEqual([]);
    });

    test('the latest use is noted, in whatever order uses arrive', async () => {
      await store().apiKeys.insert(anApiKey());
      await Promise.all([5_000, 7_000, 3_000].map((at) => store().apiKeys.touch('k1', at)));
      await store().apiKeys.touch('k1', 6_000);
      await store().apiKeys.touch('unknown', 6_000);
      expect(await store().apiKeys.list('u1')).toEqual([anApiKey({ lastUsedAt: 7_000 })]);
      expect(await store().raw.count('apiKeys')).toBe(1);
    });
  });
}
