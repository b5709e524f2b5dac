import type { CoordinationStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../eventually.ts';
import { useStore, type OpenStore } from './useStore.ts';

export function attemptsSuite(label: string, open: OpenStore<CoordinationStore>): void {
  describe(`AttemptCounter on ${label}`, () => {
    const store = useStore(open);

    test('parallel hits are all counted, each key for itself', async () => {
      const windows = await Promise.all(Array.from({ length: 20 }, () => store().attempts.hit('a', 60_000)));
      expect(windows.map((window) => window.count).sort((x, y) => x - y)).toEqual(
        Array.from({ length: 20 }, (_, i) => i + 1),
      );
      expect((await store().attempts.hit('b', 60_000)).count).toBe(1);
      expect(new Set(windows.map((window) => window.resetAt)).size).toBe(1);
    });

    test('a new window starts after the old one ends', async () => {
      // On a busy machine a short window may be over before the second hit: then a longer one, until both are in one.
      for (const windowMs of [150, 600, 2_400]) {
        const key = `within ${windowMs}`;
        const first = await store().attempts.hit(key, windowMs);
        const second = await store().attempts.hit(key, windowMs);
        if (second.count !== 2) continue;
        expect(second.resetAt).toBe(first.resetAt);
        await eventually(
          'the window to end',
          async () => (await store().attempts.hit(key, windowMs)).count === 1,
        );
        return;
      }
      throw new Error('Two hits in a row were never counted in one window');
    });

    test('a cleared key counts from one', async () => {
      await store().attempts.hit('a', 60_000);
      await store().attempts.clear('a');
      expect((await store().attempts.hit('a', 60_000)).count).toBe(1);
    });
  });
}
