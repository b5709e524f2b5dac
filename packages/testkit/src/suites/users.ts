import type { PrimaryStore, UserRecord } from '@behalf/gateway/ports';
import { describe, expect } from '@jest/globals';
import { verifies } from '../verifies.ts';
import { openedStore, type OpenStore } from './opened.ts';

export function aUser(over: Partial<UserRecord> = {}): UserRecord {
  return {
    id: 'u1',
    tenant: 'default',
    issuer: 'local',
    subject: 'ada@example.com',
    email: 'ada@example.com',
    name: 'Ada',
    role: 'USER',
    passwordSealed: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...over,
  };
}

export function usersSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`UserStore on ${label}`, () => {
    const store = openedStore(open);

    verifies(
      'stores.users.round-trip',
      'what is inserted is found unchanged, by id and by identity',
      async () => {
        const user = aUser({ passwordSealed: 'v1.sealed', name: 'Ada "Ünïcode" $& 李' });
        expect(await store().users.insert(user)).toBe('inserted');
        expect(await store().users.findById('u1')).toEqual(user);
        expect(await store().users.findByIdentity('default', 'local', 'ada@example.com')).toEqual(user);
        expect(await store().users.findById('u2')).toBeNull();
        expect(
          await store().users.findByIdentity('default', 'https://idp.example', 'ada@example.com'),
        ).toBeNull();
      },
    );

    verifies('stores.users.unique', 'of 20 parallel inserts of one identity, one wins', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store().users.insert(aUser({ id: `u${i}` }))),
      );
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
      expect(await store().users.count()).toBe(1);
    });

    verifies(
      'stores.users.unique',
      'the same subject at another issuer or tenant is another account',
      async () => {
        expect(await store().users.insert(aUser())).toBe('inserted');
        expect(await store().users.insert(aUser({ id: 'u2', issuer: 'https://idp.example' }))).toBe(
          'inserted',
        );
        expect(await store().users.insert(aUser({ id: 'u3', tenant: 'other' }))).toBe('inserted');
        expect(await store().users.count()).toBe(3);
      },
    );

    verifies('stores.users.first-once', 'of 20 parallel first users, one becomes it', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          store().users.insertFirst(aUser({ id: `u${i}`, subject: `s${i}`, email: `s${i}` })),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
      expect(await store().users.count()).toBe(1);
    });

    verifies('stores.users.first-once', 'nobody is first where a user exists', async () => {
      await store().users.insert(aUser());
      expect(await store().users.insertFirst(aUser({ id: 'u2', subject: 'other' }))).toBe('not_first');
      expect(await store().users.findById('u2')).toBeNull();
    });

    verifies('stores.users.role', 'a role is replaced, and an unknown user says so', async () => {
      await store().users.insert(aUser());
      expect(await store().users.setRole('u1', 'ADMIN', 2_000)).toBe(true);
      expect(await store().users.findById('u1')).toEqual(aUser({ role: 'ADMIN', updatedAt: 2_000 }));
      expect(await store().users.setRole('nobody', 'ADMIN', 2_000)).toBe(false);
    });
  });
}
