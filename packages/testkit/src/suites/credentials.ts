import {
  type CredentialKey,
  type CredentialRecord,
  type CredentialUsageRecord,
  type PrimaryStore,
  type UserVariableRecord,
  variableId,
} from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { aCredential } from '../records.ts';
import { type OpenStore, useStore } from './useStore.ts';

export function credentialsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`CredentialStore on ${label}`, () => {
    const store = useStore(open);
    const all = () => store().raw.page('credentials', null, 100);
    const inserted = async (overrides: Partial<Omit<CredentialRecord, 'id'>> = {}) => {
      const credential = aCredential(overrides);
      expect(await store().credentials.insert(credential)).toBe(true);
      return credential;
    };

    test('a credential is read back as it was written, under all of its key alone', async () => {
      const odd = await inserted({
        label: '',
        sealed: 'v1."$&" ünïcode 李',
        expiresAt: 5_000,
        rtSuspect: true,
        issuer: '$issuer',
      });
      expect(await store().credentials.find(odd)).toEqual(odd);
      expect(await store().credentials.findById(odd.id)).toEqual(odd);
      for (const other of [
        { tenant: 'other' },
        { principal: 'user:u2' },
        { serverId: 's2' },
        { kind: 'static' },
        { label: 'another' },
      ] satisfies Partial<CredentialKey>[]) {
        expect(await store().credentials.find({ ...odd, ...other })).toBeNull();
        expect(await store().credentials.remove({ ...odd, ...other })).toBe(false);
      }
      expect(await store().credentials.findById('another')).toBeNull();
      expect(await store().credentials.remove(odd)).toBe(true);
      expect(await store().credentials.remove(odd)).toBe(false);
      const bare = await inserted({
        resource: null,
        rtHash: null,
        atHash: null,
        sealed: null,
        lifetimeMs: null,
        tokenExpiresAt: null,
        scopesRequested: '',
        scopesGranted: '',
        endpoints: null,
        status: 'revoked',
        reason: 'revoked',
        generation: 0,
        tokenSeq: 0,
      });
      expect(await all()).toEqual([bare]);
    });

    test('of 50 parallel insertions of one credential, one is made', async () => {
      const inserted = await Promise.all(
        Array.from({ length: 50 }, (_, i) => store().credentials.insert(aCredential({ sealed: `v1.${i}` }))),
      );
      expect(inserted.filter(Boolean)).toHaveLength(1);
      const only = aCredential({ sealed: `v1.${inserted.indexOf(true)}` });
      expect(await all()).toEqual([only]);
      // The key decides, not the ID.
      expect(await store().credentials.insert({ ...aCredential(), id: 'another' })).toBe(false);
      expect(await all()).toEqual([only]);
    });

    test('those of a holder are listed in the order of server, kind and label, and nobody else’s', async () => {
      const keys = [
        { serverId: 's1', kind: 'oauth_code', label: 'a' },
        { serverId: 's1', kind: 'oauth_code', label: 'b' },
        { serverId: 's1', kind: 'static', label: 'a' },
        { serverId: 's2', kind: 'oauth_code', label: 'a' },
      ] as const;
      for (const key of [...keys].reverse()) await inserted(key);
      await inserted({ tenant: 'other' });
      await inserted({ principal: 'user:u2' });
      const labels = (found: CredentialRecord[]) =>
        found.map(({ serverId, kind, label: name }) => ({ serverId, kind, label: name }));
      expect(labels(await store().credentials.list('default', 'user:u1'))).toEqual(keys);
      expect(labels(await store().credentials.list('default', 'user:u1', 's1'))).toEqual(keys.slice(0, 3));
      expect(await store().credentials.list('default', 'user:u1', 's3')).toEqual([]);
    });

    test('a write is made where generation, refresh token and sequence are as it says, and counts itself', async () => {
      const { id } = await inserted();
      const next = { rtHash: 'rt-2', sealed: 'v1.next', tokenSeq: 2 };
      const refused = [
        { generation: 2 },
        { generation: 1, rtHash: 'rt-0' },
        { generation: 1, rtHash: null },
        { generation: 1, tokenSeq: 2 },
        { generation: 1, claimSeq: 0 },
        { generation: 1, claimSeq: 1 },
      ];
      for (const condition of refused)
        expect(await store().credentials.replace(id, condition, next)).toBeNull();
      expect(await all()).toEqual([aCredential()]);
      const condition = { generation: 1, rtHash: 'rt-1', tokenSeq: 1 };
      const before = await store().credentials.now();
      const after = await store().credentials.replace(id, condition, next);
      expect(after).toEqual(aCredential({ ...next, version: 2, updatedAt: after!.updatedAt }));
      expect(after!.updatedAt).toBeGreaterThanOrEqual(before);
      expect(await store().credentials.findById(id)).toEqual(after);
      const revoked = await store().credentials.replace(
        id,
        { generation: 1, rtHash: 'rt-2' },
        { generation: 2, status: 'revoked', rtHash: null, sealed: null, endpoints: null, rtSuspect: true },
      );
      expect(revoked).toMatchObject({
        generation: 2,
        sealed: null,
        endpoints: null,
        rtSuspect: true,
        version: 3,
      });
      const reactivated = await store().credentials.replace(id, { generation: 2, rtHash: null }, {
        label: 'moved',
        tenant: 'other',
        claimSeq: 9,
        isDefault: false,
        status: 'active',
      } as object);
      // A patch cannot change the owner or the fencing token.
      expect(reactivated).toMatchObject({
        label: 'default',
        tenant: 'default',
        claimSeq: 0,
        isDefault: true,
      });
      expect(reactivated).toMatchObject({ status: 'active', version: 4 });
      expect(await store().credentials.replace('nobody', { generation: 1 }, next)).toBeNull();
    });

    test('of 20 parallel writes over one pair, one is made', async () => {
      const { id } = await inserted();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          store().credentials.replace(
            id,
            { generation: 1, rtHash: 'rt-1' },
            { rtHash: `rt-of-${i}`, sealed: `v1.${i}`, tokenSeq: 2 },
          ),
        ),
      );
      const replaced = outcomes.filter((outcome) => outcome !== null);
      expect(replaced).toHaveLength(1);
      expect(await all()).toEqual(replaced);
    });

    test('the first of a server is the default one, and exactly one is, whoever chooses at the same time', async () => {
      const labels = ['a', 'b', 'c', 'd'];
      await Promise.all(labels.map((name) => inserted({ label: name })));
      await inserted({ serverId: 's2', isDefault: false });
      await inserted({ principal: 'user:u2', isDefault: false });
      const defaults = async (serverId: string) =>
        (await store().credentials.list('default', 'user:u1', serverId)).filter((held) => held.isDefault);
      expect(await defaults('s1')).toHaveLength(1);
      expect(await defaults('s2')).toHaveLength(1);
      expect(await store().credentials.list('default', 'user:u2')).toMatchObject([{ isDefault: true }]);
      const idOf = (name: string) => aCredential({ label: name }).id;
      for (const name of labels) {
        expect(await store().credentials.makeDefault(idOf(name))).toBe(true);
        expect(await defaults('s1')).toMatchObject([{ label: name }]);
        expect(await store().credentials.findById(idOf(name))).toMatchObject({ isDefault: true });
      }
      expect(await store().credentials.findById(idOf('a'))).toMatchObject({ isDefault: false });
      const defaultCounts: number[] = [];
      const polling = (async () => {
        for (let i = 0; i < 20; i += 1) defaultCounts.push((await defaults('s1')).length);
      })();
      await Promise.all([...labels, ...labels].map((name) => store().credentials.makeDefault(idOf(name))));
      await polling;
      expect(new Set(defaultCounts)).toEqual(new Set([1]));
      expect(await defaults('s1')).toHaveLength(1);
      expect((await all()).filter((held) => held.isDefault)).toHaveLength(3);
      expect(await store().credentials.makeDefault('nobody')).toBe(false);
      // Removing the default does not make another credential the default. The next inserted one may become it.
      const [removed] = await defaults('s1');
      await store().credentials.remove(removed!);
      expect(await defaults('s1')).toEqual([]);
      await inserted({ label: 'e' });
      expect(await defaults('s1')).toMatchObject([{ label: 'e' }]);
    });

    test('a removal takes what is of one principal, of one server, or over; and nothing else', async () => {
      const remaining = await inserted({ tenant: 'other', serverId: 's0', expiresAt: 9_001 });
      await inserted({ serverId: 's0' });
      await inserted({ serverId: 's0', label: 'second' });
      await inserted({ principal: 'user:u2' });
      await inserted({ principal: 'user:u3' });
      const expired = await inserted({ principal: 'user:u4', serverId: 's0', expiresAt: 9_000 });
      const used = async () =>
        (await store().raw.page('credentialUsage', null, 100)).map(({ id }) => id).sort();
      for (const { id } of await all()) await store().credentialUsage.put(aUsage({ id }));
      await store().credentials.insert(aCredential({ tenant: 'other', serverId: 's9' }));
      await store().credentials.remove(aCredential({ tenant: 'other', serverId: 's9' }));
      expect(await store().credentials.removeByPrincipal('default', 'user:u1')).toBe(2);
      const keys = await store().credentials.listKeysByServer('default', 's1', 10);
      expect(keys).toHaveLength(2);
      for (const key of keys) expect(await store().credentials.find(key)).toMatchObject(key);
      expect(await store().credentials.listKeysByServer('default', 's1', 1)).toEqual(keys.slice(0, 1));
      expect(await store().credentials.listKeysByServer('other', 's1', 10)).toEqual([]);
      expect(await store().credentials.removeByServer('other', 's1')).toBe(0);
      expect(await store().credentials.removeByServer('default', 's1')).toBe(2);
      expect(await store().credentials.removeExpired(8_999)).toBe(0);
      // The usage record is removed too.
      expect(await used()).toEqual([remaining.id, expired.id].sort());
      expect(await store().credentials.removeExpired(9_000)).toBe(1);
      expect(await all()).toEqual([remaining]);
      expect(await used()).toEqual([remaining.id]);
      // A credential without expiry never expires.
      const unlimited = await inserted();
      expect(await store().credentials.removeExpired(9e15)).toBe(1);
      expect(await all()).toEqual([unlimited]);
    });
  });
}

export function aUsage(overrides: Partial<CredentialUsageRecord> = {}): CredentialUsageRecord {
  return { id: 'c1', lastUsedAt: 1_000, lastOutcome: 'ok', refreshes: 0, ...overrides };
}

export function credentialUsageSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`CredentialUsageStore on ${label}`, () => {
    const store = useStore(open);

    test('the last use of each is kept, and those used since a time are listed, the last used first', async () => {
      const { credentialUsage } = store();
      expect(await credentialUsage.find('c1')).toBeNull();
      await credentialUsage.put(aUsage());
      await credentialUsage.put(aUsage({ lastUsedAt: 2_000, lastOutcome: '', refreshes: 3 }));
      expect(await credentialUsage.find('c1')).toEqual(
        aUsage({ lastUsedAt: 2_000, lastOutcome: '', refreshes: 3 }),
      );
      for (const [i, id] of ['c2', 'c3', 'c4'].entries())
        await credentialUsage.put(aUsage({ id, lastUsedAt: 3_000 + 1_000 * i }));
      const since = async (time: number, limit: number) =>
        (await credentialUsage.listUsedSince(time, limit)).map(({ id }) => id);
      expect(await since(3_000, 10)).toEqual(['c4', 'c3', 'c2']);
      expect(await since(3_001, 10)).toEqual(['c4', 'c3']);
      expect(await since(0, 2)).toEqual(['c4', 'c3']);
      expect(await credentialUsage.remove('c4')).toBe(true);
      expect(await credentialUsage.remove('c4')).toBe(false);
      expect(await since(0, 10)).toEqual(['c3', 'c2', 'c1']);
    });
  });
}

export function aVariable(overrides: Partial<Omit<UserVariableRecord, 'id'>> = {}): UserVariableRecord {
  const record = {
    tenant: 'default',
    userId: 'u1',
    serverId: 's1',
    name: 'TOKEN',
    valueSealed: 'v1.sealed',
    updatedAt: 1_000,
    ...overrides,
  };
  return { id: variableId(record), ...record };
}

export function variablesSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`UserVariableStore on ${label}`, () => {
    const store = useStore(open);
    const list = (tenant = 'default', userId = 'u1', serverId = 's1') =>
      store().variables.list(tenant, userId, serverId);

    test('values are read back as they were written, by name, and replaced', async () => {
      const odd = aVariable({ name: 'B', valueSealed: 'v1."$&" ünïcode 李' });
      await store().variables.put([]);
      await store().variables.put([odd, aVariable({ name: 'A' })]);
      expect(await list()).toEqual([aVariable({ name: 'A' }), odd]);
      await store().variables.put([aVariable({ name: 'A', valueSealed: 'v1.new', updatedAt: 2 })]);
      expect(await list()).toEqual([aVariable({ name: 'A', valueSealed: 'v1.new', updatedAt: 2 }), odd]);
    });

    test('50 parallel writes of one value leave one row', async () => {
      await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          store().variables.put([aVariable({ valueSealed: `v1.${i}` }), aVariable({ name: 'OTHER' })]),
        ),
      );
      expect((await list()).map(({ name }) => name)).toEqual(['OTHER', 'TOKEN']);
      expect(await store().raw.count('variables')).toBe(2);
    });

    test('a second row of one key is refused, whatever it calls itself', async () => {
      await store().variables.put([aVariable()]);
      await expect(
        store().variables.put([{ ...aVariable({ valueSealed: 'v1.twin' }), id: 'another' }]),
      ).rejects.toThrow();
      expect(await list()).toEqual([aVariable()]);
    });

    test('another tenant, user or server has values of its own, and removal takes only what it names', async () => {
      const others = [
        aVariable({ tenant: 'other' }),
        aVariable({ userId: 'u2' }),
        aVariable({ serverId: 's2' }),
      ];
      await store().variables.put([aVariable(), aVariable({ name: 'SECOND' }), ...others]);
      expect(await list('other')).toEqual([others[0]]);
      expect(await list('default', 'u2')).toEqual([others[1]]);
      expect(await list('default', 'u1', 's2')).toEqual([others[2]]);
      expect(await store().variables.remove('default', 'u1', 's1', 'SECOND')).toBe(true);
      expect(await store().variables.remove('default', 'u1', 's1', 'SECOND')).toBe(false);
      expect(await list()).toEqual([aVariable()]);
      expect(await store().variables.removeAll('default', 'u1', 's1')).toBe(1);
      expect(await store().raw.count('variables')).toBe(3);
      await store().variables.put([aVariable()]);
      expect(await store().variables.removeByServer('default', 's1')).toBe(2);
      expect(await store().variables.removeByUser('default', 'u1')).toBe(1);
      expect(await store().raw.page('variables', null, 10)).toEqual([others[0]]);
    });
  });
}
