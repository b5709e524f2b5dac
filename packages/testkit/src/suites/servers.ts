import type { PrimaryStore, StoredServerRecord } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

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
