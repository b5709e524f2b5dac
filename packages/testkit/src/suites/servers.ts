import {
  type DraftRecord,
  type OverrideRecord,
  type PrimaryStore,
  type StoredServerRecord,
  overrideId,
} from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { type OpenStore, useStore } from './useStore.ts';

export function aStoredServer(overrides: Partial<StoredServerRecord> = {}): StoredServerRecord {
  return {
    id: 's1',
    tenant: 'default',
    name: 'my server',
    normalizedName: 'my_server',
    author: 'u1',
    version: 1,
    configSealed: 'v1.sealed',
    createdAt: 1_000,
    updatedAt: 1_000,
    updatedBy: 'u1',
    securedBy: 'u1',
    securedAt: 1_000,
    securedHash: 'hash',
    ...overrides,
  };
}

export function serversSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`ServerStore on ${label}`, () => {
    const store = useStore(open);

    test('what is inserted is found unchanged, by id and by name, in its tenant alone', async () => {
      const server = aStoredServer({ configSealed: 'v1."$&" ünïcode 李' });
      const second = aStoredServer({
        id: 's0',
        name: 'b',
        normalizedName: 'b',
        version: 7,
        securedHash: '',
      });
      expect(await store().servers.insert(server)).toBe('inserted');
      expect(await store().servers.insert(second)).toBe('inserted');
      expect(await store().servers.find('default', 's1')).toEqual(server);
      expect(await store().servers.findByName('default', 'my server')).toEqual(server);
      expect(await store().servers.find('other', 's1')).toBeNull();
      expect(await store().servers.findByName('other', 'my server')).toBeNull();
      expect(await store().servers.list()).toEqual([second, server]);
      expect(await store().servers.listVersions()).toEqual([
        { id: 's0', version: 7 },
        { id: 's1', version: 1 },
      ]);
      expect(await store().servers.remove('other', 's1')).toBe(false);
      expect(await store().servers.remove('default', 's1')).toBe(true);
      expect(await store().servers.remove('default', 's1')).toBe(false);
      expect(await store().servers.list()).toEqual([second]);
    });

    test('the names of a tenant are listed without what stands behind them', async () => {
      const other = aStoredServer({ id: 's0', name: 'b/c', normalizedName: 'b_c', author: 'u2' });
      await store().servers.insert(aStoredServer());
      await store().servers.insert(other);
      await store().servers.insert(aStoredServer({ id: 's2', tenant: 'other', author: 'u3' }));
      expect(await store().servers.listNames('default')).toEqual([
        { id: 's0', name: 'b/c', normalizedName: 'b_c', author: 'u2' },
        { id: 's1', name: 'my server', normalizedName: 'my_server', author: 'u1' },
      ]);
      expect(await store().servers.listNames('nobody')).toEqual([]);
    });

    test('of 50 parallel inserts of one name, one wins', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          store().servers.insert(aStoredServer({ id: `s${i}`, normalizedName: `n${i}` })),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
      expect(await store().raw.count('servers')).toBe(1);
    });

    test('a name whose normalised form is taken is refused, on creation and on renaming; another tenant has its own', async () => {
      expect(await store().servers.insert(aStoredServer())).toBe('inserted');
      const duplicate = aStoredServer({ id: 's2', name: 'my/server' });
      expect(await store().servers.insert(duplicate)).toBe('taken');
      expect(await store().servers.insert(aStoredServer({ id: 's3', tenant: 'other' }))).toBe('inserted');
      const other = aStoredServer({ id: 's4', name: 'c', normalizedName: 'c' });
      expect(await store().servers.insert(other)).toBe('inserted');
      expect(await store().servers.replace({ ...other, name: 'my server', version: 2 }, 1)).toBe('taken');
      expect(await store().servers.replace({ ...other, normalizedName: 'my_server', version: 2 }, 1)).toBe(
        'taken',
      );
      expect(await store().servers.find('default', 's4')).toEqual(other);
    });

    test('a change may leave who decided about its safety as it was, or replace it', async () => {
      await store().servers.insert(aStoredServer());
      const titled = aStoredServer({ version: 2, updatedBy: 'u2', updatedAt: 2_000 });
      expect(await store().servers.replace(titled, 1)).toBe('replaced');
      expect(await store().servers.find('default', 's1')).toEqual(titled);
      const moved = { ...titled, version: 3, securedBy: 'u2', securedAt: 3_000, securedHash: 'other' };
      expect(await store().servers.replace(moved, 2)).toBe('replaced');
      expect(await store().servers.find('default', 's1')).toEqual(moved);
    });

    test('of 20 parallel changes of one version, one is made', async () => {
      await store().servers.insert(aStoredServer());
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          store().servers.replace(aStoredServer({ version: 2, configSealed: `v1.${i}` }), 1),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'replaced')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'version_conflict')).toHaveLength(19);
      const winner = outcomes.indexOf('replaced');
      expect(await store().servers.find('default', 's1')).toEqual(
        aStoredServer({ version: 2, configSealed: `v1.${winner}` }),
      );
      expect(await store().servers.replace(aStoredServer({ tenant: 'other', version: 3 }), 2)).toBe(
        'missing',
      );
      expect(await store().servers.replace(aStoredServer({ id: 'nobody' }), 2)).toBe('missing');
    });
  });
}

export function anOverride(overrides: Partial<Omit<OverrideRecord, 'id'>> = {}): OverrideRecord {
  const record = {
    tenant: 'default',
    name: 'files',
    version: 1,
    configSealed: 'v1.sealed',
    createdAt: 1_000,
    updatedAt: 1_000,
    updatedBy: 'u1',
    securedBy: 'u1',
    securedAt: 1_000,
    ...overrides,
  };
  return { id: overrideId(record.tenant, record.name), ...record };
}

export function overridesSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`OverrideStore on ${label}`, () => {
    const store = useStore(open);
    const twenty = <T>(work: (i: number) => Promise<T>) =>
      Promise.all(Array.from({ length: 20 }, (_, i) => work(i)));
    const count = <T>(outcomes: readonly T[], wanted: T) =>
      outcomes.filter((outcome) => outcome === wanted).length;

    test('a change is read back as it was written, in its tenant alone', async () => {
      const odd = anOverride({ name: 'a', configSealed: 'v1."$&" ünïcode 李' });
      expect(await store().overrides.put(anOverride(), null)).toBe('stored');
      expect(await store().overrides.put(odd, null)).toBe('stored');
      expect(await store().overrides.find('default', 'a')).toEqual(odd);
      expect(await store().overrides.find('other', 'a')).toBeNull();
      expect(await store().overrides.list()).toEqual([odd, anOverride()]);
      const next = anOverride({
        version: 2,
        configSealed: 'v1.next',
        updatedBy: 'u2',
        securedBy: 'u2',
        securedAt: 7,
      });
      expect(await store().overrides.put(next, 1)).toBe('stored');
      expect(await store().overrides.find('default', 'files')).toEqual(next);
    });

    test('of 20 parallel first changes, one is made', async () => {
      const outcomes = await twenty((i) =>
        store().overrides.put(anOverride({ configSealed: `v1.${i}` }), null),
      );
      expect([count(outcomes, 'stored'), count(outcomes, 'version_conflict')]).toEqual([1, 19]);
      expect((await store().overrides.list()).map(({ configSealed }) => configSealed)).toEqual([
        `v1.${outcomes.indexOf('stored')}`,
      ]);
    });

    test('of 20 parallel changes of one version, one is made; what is not there has no version', async () => {
      expect(await store().overrides.put(anOverride(), 1)).toBe('version_conflict');
      await store().overrides.put(anOverride(), null);
      const outcomes = await twenty((i) =>
        store().overrides.put(anOverride({ version: 2, configSealed: `v1.${i}` }), 1),
      );
      expect([count(outcomes, 'stored'), count(outcomes, 'version_conflict')]).toEqual([1, 19]);
      expect((await store().overrides.find('default', 'files'))?.configSealed).toBe(
        `v1.${outcomes.indexOf('stored')}`,
      );
    });

    test('a removal names the version it saw, and one is made', async () => {
      await store().overrides.put(anOverride({ version: 2 }), null);
      await store().overrides.put(anOverride({ tenant: 'other', version: 2 }), null);
      expect(await store().overrides.remove('default', 'files', 1)).toBe('version_conflict');
      const outcomes = await twenty(() => store().overrides.remove('default', 'files', 2));
      expect([count(outcomes, 'removed'), count(outcomes, 'missing')]).toEqual([1, 19]);
      expect(await store().overrides.list()).toEqual([anOverride({ tenant: 'other', version: 2 })]);
    });
  });
}

export function aDraft(overrides: Partial<DraftRecord> = {}): DraftRecord {
  return {
    id: 'd1',
    tenant: 'default',
    userId: 'u1',
    canonicalUrl: 'https://mcp.example/mcp',
    sealed: 'v1.draft',
    createdAt: 1_000,
    expiresAt: 9e12,
    takenAt: null,
    ...overrides,
  };
}

const MAX_PER_USER = 100;

export function draftsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`DraftStore on ${label}`, () => {
    const store = useStore(open);
    const insert = async (...records: DraftRecord[]) => {
      for (const record of records)
        expect(await store().drafts.insert(record, MAX_PER_USER)).toBe('inserted');
    };

    test('what is inserted is found unchanged, by tenant and by user', async () => {
      const odd = aDraft({
        id: 'd2',
        sealed: 'v1."$&" ünïcode 李',
        canonicalUrl: 'https://ünï.example/$x',
      });
      await insert(odd, aDraft(), aDraft({ id: 'd3', userId: 'u2' }), aDraft({ id: 'd4', tenant: 'other' }));
      expect(await store().drafts.find('default', 'd2')).toEqual(odd);
      expect(await store().drafts.find('other', 'd2')).toBeNull();
      expect(await store().drafts.findById('d2')).toEqual(odd);
      expect(await store().drafts.findById('unknown')).toBeNull();
      expect(await store().drafts.listByUser('default', 'u1')).toEqual([aDraft(), odd]);
      expect(await store().drafts.remove('other', 'd2')).toBe(false);
      expect(await store().drafts.remove('default', 'd2')).toBe(true);
      expect(await store().drafts.listByUser('default', 'u1')).toEqual([aDraft()]);
      await expect(store().drafts.insert(aDraft(), MAX_PER_USER)).rejects.toThrow();
    });

    test('of 20 parallel takers, one succeeds, and it is its user', async () => {
      await insert(aDraft());
      expect(await store().drafts.consume('default', 'd1', 'u2', 2_000)).toBe(false);
      expect(await store().drafts.consume('other', 'd1', 'u1', 2_000)).toBe(false);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => store().drafts.consume('default', 'd1', 'u1', 2_000)),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await store().drafts.find('default', 'd1')).toEqual(
        aDraft({ takenAt: 2_000, expiresAt: 2_000 }),
      );
    });

    test('what is over is not taken, and is listed for whoever ends it', async () => {
      await insert(
        aDraft({ id: 'over', expiresAt: 2_000 }),
        aDraft({ id: 'also', expiresAt: 1_500 }),
        aDraft(),
      );
      expect(await store().drafts.consume('default', 'over', 'u1', 2_000)).toBe(false);
      const ids = async (expiredBy: number, limit = 10) =>
        (await store().drafts.listExpired(expiredBy, limit)).map(({ id }) => id);
      expect(await ids(1_499)).toEqual([]);
      expect(await ids(2_000)).toEqual(['also', 'over']);
      expect(await ids(2_000, 1)).toEqual(['also']);
    });

    test('of parallel insertions no more are kept than one may have open', async () => {
      await insert(aDraft({ id: 'over', expiresAt: 1_000 }), aDraft({ id: 'theirs', userId: 'u2' }));
      const ids = Array.from({ length: 20 }, (_, i) => `c${i}`);
      const outcomes = await Promise.all(ids.map((id) => store().drafts.insert(aDraft({ id }), 3)));
      const remaining = (await store().drafts.listByUser('default', 'u1')).filter(({ id }) => id !== 'over');
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(remaining.length);
      expect(remaining.length).toBeLessThanOrEqual(3);
      for (let i = remaining.length; i < 3; i += 1) {
        expect(await store().drafts.insert(aDraft({ id: `e${i}` }), 3)).toBe('inserted');
      }
      expect(await store().drafts.insert(aDraft({ id: 'f' }), 3)).toBe('full');
    });
  });
}
