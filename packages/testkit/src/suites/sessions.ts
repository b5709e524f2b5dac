import type { PrimaryStore, SessionRecord } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function aSession(overrides: Partial<SessionRecord> = {}): SessionRecord {
  return {
    hash: 'h1',
    userId: 'u1',
    tenant: 'default',
    via: 'password',
    groups: [],
    grant: null,
    createdAt: 1_000,
    // Far in the future of any real clock: what expires here expires by the `now` a test passes in.
    expiresAt: 9e12,
    ...overrides,
  };
}

export function sessionsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`SessionStore on ${label}`, () => {
    const store = useStore(open);

    test('a session is found until its end and not at it', async () => {
      await store().sessions.insert(aSession());
      expect(await store().sessions.find('h1', 9e12 - 1)).toEqual(aSession());
      expect(await store().sessions.find('h1', 9e12)).toBeNull();
      expect(await store().sessions.find('h2', 0)).toBeNull();
    });

    test('which sessions of many are open', async () => {
      await store().sessions.insert(aSession());
      await store().sessions.insert(aSession({ hash: 'h2', expiresAt: 8e12 }));
      const open = async (hashes: string[], now: number) =>
        (await store().sessions.filterActive(hashes, now)).sort();
      expect(await open(['h2', 'unknown', 'h1'], 8e12 - 1)).toEqual(['h1', 'h2']);
      expect(await open(['h2', 'h1'], 8e12)).toEqual(['h1']);
      expect(await open(['h2'], 0)).toEqual(['h2']);
      expect(await open([], 0)).toEqual([]);
    });

    test('the open sessions of a user, the oldest first, with how they began', async () => {
      const federated = aSession({
        hash: 'h0',
        via: 'openid',
        groups: ['a', '"$&" ünïcode 李'],
        createdAt: 2_000,
      });
      const granted = aSession({
        hash: 'h4',
        via: 'client',
        grant: { clientId: 'https://client.example/"a"', from: 'h0' },
        createdAt: 3_000,
      });
      await store().sessions.insert(granted);
      // By an assertion, during nobody's sign-in.
      const asserted = {
        ...granted,
        hash: 'h9',
        createdAt: granted.createdAt + 1,
        grant: { clientId: 'c', from: '' },
      };
      await store().sessions.insert(asserted);
      await store().sessions.insert(federated);
      await store().sessions.insert(aSession());
      await store().sessions.insert(aSession({ hash: 'h2', expiresAt: 8e12 }));
      await store().sessions.insert(aSession({ hash: 'h3', userId: 'u2' }));
      expect(await store().sessions.find('h0', 0)).toEqual(federated);
      expect(await store().sessions.list('u1', 8e12)).toEqual([aSession(), federated, granted, asserted]);
      expect(await store().sessions.list('u1', 9e12)).toEqual([]);
    });

    test('a removed session is gone, and only that one', async () => {
      await store().sessions.insert(aSession());
      await store().sessions.insert(aSession({ hash: 'h2' }));
      expect(await store().sessions.remove('h1')).toBe(true);
      expect(await store().sessions.remove('h1')).toBe(false);
      expect(await store().sessions.find('h1', 0)).toBeNull();
      expect(await store().sessions.find('h2', 0)).not.toBeNull();
    });

    test('all sessions of a user end together, nobody else’s', async () => {
      await store().sessions.insert(aSession());
      await store().sessions.insert(aSession({ hash: 'h2' }));
      await store().sessions.insert(aSession({ hash: 'h3', userId: 'u2' }));
      expect(await store().sessions.removeByUser('u1')).toBe(2);
      expect(await store().sessions.find('h3', 0)).not.toBeNull();
    });

    test('expired sessions are swept, live ones stay', async () => {
      await store().sessions.insert(aSession());
      await store().sessions.insert(aSession({ hash: 'h2', expiresAt: 9.1e12 }));
      expect(await store().sessions.removeExpired(9e12)).toBe(1);
      expect(await store().sessions.find('h2', 9e12)).not.toBeNull();
    });
  });
}
