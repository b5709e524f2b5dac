import type { CoordinationStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../eventually.ts';
import { useStore, type OpenStore } from './useStore.ts';

export function cacheSuite(label: string, open: OpenStore<CoordinationStore>): void {
  describe(`Cache on ${label}`, () => {
    const store = useStore(open);

    test('a value is read back byte for byte, replaced and deleted', async () => {
      const cache = store().cache('tokens');
      const value = '{"a":"$& \\u0000 ünïcode 李"}';
      expect(await cache.get('k')).toBeUndefined();
      await cache.set('k', value, 60_000);
      expect(await cache.get('k')).toBe(value);
      await cache.set('k', 'second', 60_000);
      expect(await cache.get('k')).toBe('second');
      expect(await cache.delete('k')).toBe(true);
      expect(await cache.delete('k')).toBe(false);
      expect(await cache.get('k')).toBeUndefined();
    });

    test('a value is gone after its TTL', async () => {
      const cache = store().cache('tokens');
      await cache.set('k', 'v', 150);
      await cache.set('stays', 'v', 60_000);
      await eventually('the value to expire', async () => (await cache.get('k')) === undefined);
      expect(await cache.get('stays')).toBe('v');
    });

    test('namespaces do not see or clear each other', async () => {
      const one = store().cache('one');
      const two = store().cache('two');
      await one.set('k', '1', 60_000);
      await two.set('k', '2', 60_000);
      await one.clear();
      expect(await one.get('k')).toBeUndefined();
      expect(await two.get('k')).toBe('2');
    });
  });
}
