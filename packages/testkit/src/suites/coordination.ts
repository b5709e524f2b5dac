import type { ChangeEvent, CoordinationStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../system.ts';
import { type OpenStore, useStore } from './useStore.ts';

export function leasesSuite(label: string, open: OpenStore<CoordinationStore>): void {
  describe(`Leases on ${label}`, () => {
    const store = useStore(open);

    test('of 20 parallel takers, one holds', async () => {
      const leases = await Promise.all(
        Array.from({ length: 20 }, () => store().leases.acquire('k', 'refresh', 60_000)),
      );
      const held = leases.filter((lease) => lease !== null);
      expect(held).toHaveLength(1);
      expect(await store().leases.findHolder('k')).toEqual({ owner: held[0]!.owner, purpose: 'refresh' });
      expect(await store().leases.acquire('other', 'exchange', 60_000)).not.toBeNull();
    });

    test('a released lease is free at once', async () => {
      const lease = await store().leases.acquire('k', 'refresh', 60_000);
      expect(await lease!.release()).toBe(true);
      expect(await store().leases.findHolder('k')).toBeNull();
      expect(await store().leases.acquire('k', 'exchange', 60_000)).not.toBeNull();
    });

    test('a lease nobody extends is taken over after its TTL', async () => {
      await store().leases.acquire('k', 'refresh', 120);
      const next = await eventually('the lease to expire', () =>
        store().leases.acquire('k', 'exchange', 60_000),
      );
      expect(await store().leases.findHolder('k')).toEqual({ owner: next.owner, purpose: 'exchange' });
    });

    test('who lost a lease can neither extend nor release the next one', async () => {
      const lost = (await store().leases.acquire('k', 'refresh', 120))!;
      const next = await eventually('the lease to expire', () =>
        store().leases.acquire('k', 'exchange', 60_000),
      );
      expect(await lost.extend(60_000)).toBe(false);
      expect(await lost.release()).toBe(false);
      expect((await store().leases.findHolder('k'))?.owner).toBe(next.owner);
    });

    test('an extended lease outlives its first TTL', async () => {
      // On a busy machine a short TTL may expire before the test extends it. Then the test repeats with a longer
      // TTL.
      for (const ttlMs of [200, 800, 2_400]) {
        const key = `for ${ttlMs}`;
        const lease = (await store().leases.acquire(key, 'refresh', ttlMs))!;
        if (!(await lease.extend(60_000))) continue;
        // A second lease with the first one's TTL shows when that time has passed.
        await store().leases.acquire('timer', 'refresh', ttlMs);
        await eventually(
          'the first TTL to pass',
          async () => (await store().leases.findHolder('timer')) === null,
        );
        expect((await store().leases.findHolder(key))?.owner).toBe(lease.owner);
        // The new expiry counts, not an infinite one.
        expect(await lease.extend(50)).toBe(true);
        await eventually('the new end to come', async () => (await store().leases.findHolder(key)) === null);
        return;
      }
      throw new Error('A lease was never extended while it was held');
    });
  });
}

/** `peer` opens a second client of the same store, like another process. */
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
          // After `syncedUntil` reaches a time, all earlier notices have been delivered.
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
      // On a busy machine a short window may end before the second hit. Then the test repeats with a longer window.
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

/** `peer` opens a second client of the same store, like another process. */
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
