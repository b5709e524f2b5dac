import type { CoordinationStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { openedStore, type OpenStore } from './opened.ts';

/** `peer` opens a second client of the same store, as another process would. */
export function orphansSuite(
  label: string,
  open: OpenStore<CoordinationStore>,
  peer?: (of: CoordinationStore) => Promise<CoordinationStore>,
): void {
  describe(`OrphanStore on ${label}`, () => {
    const store = openedStore(open);

    test('what is put in is found under its id alone until it is removed, the last that was put in', async () => {
      const { pendingWrites: orphans } = store();
      const id = JSON.stringify(['default', 'user:u1', '../..', 'oauth_code', 'a/b']);
      expect(await orphans.find(id)).toBeNull();
      await orphans.remove(id, 'v1.first');
      await orphans.put(id, 'v1.first');
      await orphans.put(id, 'v1."$&" 李');
      await orphans.put('another', 'v1.other');
      for (let i = 0; i < 2; i += 1) expect(await orphans.find(id)).toBe('v1."$&" 李');
      await orphans.remove(id, 'v1."$&" 李');
      expect(await orphans.find(id)).toBeNull();
      expect(await orphans.find('another')).toBe('v1.other');
    });

    test('who takes one away takes none that was put in after it was seen', async () => {
      const { pendingWrites: orphans } = store();
      await orphans.put('c1', 'v1.first');
      await orphans.put('c1', 'v1.second');
      await orphans.remove('c1', 'v1.first');
      expect(await orphans.find('c1')).toBe('v1.second');
      await orphans.remove('c1', 'v1.second');
      expect(await orphans.find('c1')).toBeNull();
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
