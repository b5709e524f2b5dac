import type { CoordinationStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

/** `peer` opens a second client of the same store, as another process would. */
export function pendingWritesSuite(
  label: string,
  open: OpenStore<CoordinationStore>,
  peer?: (of: CoordinationStore) => Promise<CoordinationStore>,
): void {
  describe(`OrphanStore on ${label}`, () => {
    const store = useStore(open);

    test('what is put in is found under its id alone until it is removed, the last that was put in', async () => {
      const { pendingWrites } = store();
      const id = JSON.stringify(['default', 'user:u1', '../..', 'oauth_code', 'a/b']);
      expect(await pendingWrites.find(id)).toBeNull();
      await pendingWrites.remove(id, 'v1.first');
      await pendingWrites.put(id, 'v1.first');
      await pendingWrites.put(id, 'v1."$&" 李');
      await pendingWrites.put('another', 'v1.other');
      for (let i = 0; i < 2; i += 1) expect(await pendingWrites.find(id)).toBe('v1."$&" 李');
      await pendingWrites.remove(id, 'v1."$&" 李');
      expect(await pendingWrites.find(id)).toBeNull();
      expect(await pendingWrites.find('another')).toBe('v1.other');
    });

    test('who takes one away takes none that was put in after it was seen', async () => {
      const { pendingWrites } = store();
      await pendingWrites.put('c1', 'v1.first');
      await pendingWrites.put('c1', 'v1.second');
      await pendingWrites.remove('c1', 'v1.first');
      expect(await pendingWrites.find('c1')).toBe('v1.second');
      await pendingWrites.remove('c1', 'v1.second');
      expect(await pendingWrites.find('c1')).toBeNull();
    });

    if (peer) {
      test('another process finds it, and takes it away for all', async () => {
        const other = await peer(store());
        try {
          await store().pendingWrites.put('c1', 'v1.pair');
          expect(await other.pendingWrites.find('c1')).toBe('v1.pair');
          await other.pendingWrites.remove('c1', 'v1.pair');
          expect(await store().pendingWrites.find('c1')).toBeNull();
        } finally {
          await other.close();
        }
      });
    }
  });
}
