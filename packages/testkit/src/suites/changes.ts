import type { ChangeEvent, CoordinationStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../eventually.ts';
import { useStore, type OpenStore } from './useStore.ts';

/** `peer` opens a second client of the same store, as another process would. */
export function changesSuite(
  label: string,
  open: OpenStore<CoordinationStore>,
  peer?: (of: CoordinationStore) => Promise<CoordinationStore>,
): void {
  describe(`ChangeFeed on ${label}`, () => {
    const store = useStore(open);

    test('a listener of this process hears, until it leaves', async () => {
      const received: ChangeEvent[] = [];
      const unsubscribe = store().changes.subscribe((change) => received.push(change));
      store().changes.subscribe(() => {
        throw new Error('a listener of ill will');
      });
      await store().changes.publish({ topic: 'users', id: 'u1' });
      await eventually('the notice', () => received.length > 0);
      expect(received).toContainEqual({ topic: 'users', id: 'u1' });
      unsubscribe();
      const previousCount = received.length;
      await store().changes.publish({ topic: 'users', id: 'u2' });
      expect(received).toHaveLength(previousCount);
    });

    if (peer) {
      test('another client hears of the topic, both ways', async () => {
        const other = await peer(store());
        try {
          const receivedHere: ChangeEvent[] = [];
          const receivedThere: ChangeEvent[] = [];
          store().changes.subscribe((notice) => receivedHere.push(notice));
          other.changes.subscribe((notice) => receivedThere.push(notice));
          const includes = (received: ChangeEvent[], topic: string, id: string) =>
            received.some((change) => change.topic === topic && (change.id === id || change.id === '*'));
          await store().changes.publish({ topic: 'sessions', id: 's1' });
          await eventually('the peer to hear', () => includes(receivedThere, 'sessions', 's1'));
          await other.changes.publish({ topic: 'users', id: 'u9' });
          await eventually('this one to hear', () => includes(receivedHere, 'users', 'u9'));
          expect(includes(receivedThere, 'settings', '*')).toBe(false);
          for (const topic of ['credentials', 'oauthFlows'] as const) {
            await store().changes.publish({ topic, id: 'x' });
            await eventually('the peer to hear of it', () => includes(receivedThere, topic, 'x'));
          }
          if (store().kind === 'redis') return;
          // What this one says to have heard, it has heard.
          await other.changes.publish({ topic: 'servers', id: 'x' });
          const published = Date.now();
          await eventually('this one to be sure', () => store().changes.syncedUntil() > published);
          expect(includes(receivedHere, 'servers', 'x')).toBe(true);
        } finally {
          await other.close();
        }
      });
    }
  });
}
