import type { ChangeEvent, CoordinationStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../eventually.ts';
import { openedStore, type OpenStore } from './opened.ts';

/** `peer` opens a second client of the same store, as another process would. */
export function changesSuite(
  label: string,
  open: OpenStore<CoordinationStore>,
  peer?: (of: CoordinationStore) => Promise<CoordinationStore>,
): void {
  describe(`ChangeFeed on ${label}`, () => {
    const store = openedStore(open);

    test('a listener of this process hears, until it leaves', async () => {
      const heard: ChangeEvent[] = [];
      const leave = store().changes.subscribe((notice) => heard.push(notice));
      store().changes.subscribe(() => {
        throw new Error('a listener of ill will');
      });
      await store().changes.publish({ topic: 'users', id: 'u1' });
      await eventually('the notice', () => heard.length > 0);
      expect(heard).toContainEqual({ topic: 'users', id: 'u1' });
      leave();
      const before = heard.length;
      await store().changes.publish({ topic: 'users', id: 'u2' });
      expect(heard).toHaveLength(before);
    });

    if (peer) {
      test('another client hears of the topic, both ways', async () => {
        const other = await peer(store());
        try {
          const heardHere: ChangeEvent[] = [];
          const heardThere: ChangeEvent[] = [];
          store().changes.subscribe((notice) => heardHere.push(notice));
          other.changes.subscribe((notice) => heardThere.push(notice));
          const about = (heard: ChangeEvent[], topic: string, id: string) =>
            heard.some((notice) => notice.topic === topic && (notice.id === id || notice.id === '*'));
          await store().changes.publish({ topic: 'sessions', id: 's1' });
          await eventually('the peer to hear', () => about(heardThere, 'sessions', 's1'));
          await other.changes.publish({ topic: 'users', id: 'u9' });
          await eventually('this one to hear', () => about(heardHere, 'users', 'u9'));
          expect(about(heardThere, 'settings', '*')).toBe(false);
          for (const topic of ['credentials', 'oauthFlows'] as const) {
            await store().changes.publish({ topic, id: 'x' });
            await eventually('the peer to hear of it', () => about(heardThere, topic, 'x'));
          }
          if (store().kind === 'redis') return;
          // What this one says to have heard, it has heard.
          await other.changes.publish({ topic: 'servers', id: 'x' });
          const published = Date.now();
          await eventually('this one to be sure', () => store().changes.syncedUntil() > published);
          expect(about(heardHere, 'servers', 'x')).toBe(true);
        } finally {
          await other.close();
        }
      });
    }
  });
}
