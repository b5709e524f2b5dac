import { credentialId, type CredentialRecord, type PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect } from '@jest/globals';
import { verifies } from '../verifies.ts';
import { openedStore, type OpenStore } from './opened.ts';

export function aCredential(over: Partial<Omit<CredentialRecord, 'id'>> = {}): CredentialRecord {
  const record = {
    tenant: 'default',
    principal: 'user:u1',
    serverId: '@login',
    kind: 'login' as const,
    label: 'hash of a session',
    sealed: 'v1.sealed',
    expiresAt: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...over,
  };
  return { id: credentialId(record), ...record };
}

export function credentialsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`CredentialStore on ${label}`, () => {
    const store = openedStore(open);
    const all = () => store().raw.page('credentials', null, 100);

    verifies(
      'stores.credentials.round-trip',
      'a credential is read back as it was written, under all of its key alone, and replaced',
      async () => {
        const odd = aCredential({ sealed: 'v1."$&" ünïcode 李', expiresAt: 5_000 });
        await store().credentials.put(odd);
        expect(await store().credentials.find(odd)).toEqual(odd);
        for (const other of [
          { tenant: 'other' },
          { principal: 'user:u2' },
          { serverId: 's1' },
          { label: 'hash of another' },
        ]) {
          expect(await store().credentials.find({ ...odd, ...other })).toBeNull();
          expect(await store().credentials.remove({ ...odd, ...other })).toBe(false);
        }
        const next = aCredential({ sealed: 'v1.next', updatedAt: 2_000 });
        await store().credentials.put(next);
        expect(await all()).toEqual([next]);
        expect(await store().credentials.remove(odd)).toBe(true);
        expect(await store().credentials.remove(odd)).toBe(false);
        expect(await all()).toEqual([]);
      },
    );

    verifies('stores.credentials.unique', '50 parallel writes of one credential leave one', async () => {
      await Promise.all(
        Array.from({ length: 50 }, (_, i) => store().credentials.put(aCredential({ sealed: `v1.${i}` }))),
      );
      expect(await all()).toHaveLength(1);
      const twin = { ...aCredential({ sealed: 'v1.twin' }), id: 'another' };
      await expect(store().credentials.put(twin)).rejects.toThrow();
      expect(await all()).toHaveLength(1);
    });

    verifies(
      'stores.credentials.apart',
      'a removal takes what is of one principal, of one server, or over; and nothing else',
      async () => {
        const kept = aCredential({ tenant: 'other', expiresAt: 9_001 });
        const others = [
          aCredential(),
          aCredential({ label: 'second' }),
          aCredential({ principal: 'user:u2', serverId: 's1' }),
          aCredential({ principal: 'user:u3', serverId: 's1' }),
          aCredential({ principal: 'user:u4', expiresAt: 9_000 }),
        ];
        for (const credential of [kept, ...others]) await store().credentials.put(credential);
        expect(await store().credentials.removeOfPrincipal('default', 'user:u1')).toBe(2);
        expect(await store().credentials.removeOfServer('other', 's1')).toBe(0);
        expect(await store().credentials.removeOfServer('default', 's1')).toBe(2);
        expect(await store().credentials.removeExpired(8_999)).toBe(0);
        expect(await store().credentials.removeExpired(9_000)).toBe(1);
        expect(await all()).toEqual([kept]);
        // One without an end is never over.
        await store().credentials.put(aCredential());
        expect(await store().credentials.removeExpired(9e15)).toBe(1);
        expect(await all()).toEqual([aCredential()]);
      },
    );
  });
}
