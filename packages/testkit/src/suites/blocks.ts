import type {
  BlockRecord,
  OwnedRecord,
  OwnedStore,
  PrimaryStore,
  RunRecord,
  SetRecord,
} from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { type OpenStore, useStore } from './useStore.ts';

export function aBlock(overrides: Partial<BlockRecord> = {}): BlockRecord {
  return {
    id: 'b1',
    tenant: 'default',
    owner: 'u1',
    serverId: 's1',
    tool: 'echo',
    version: 1,
    sealed: 'v1.block',
    createdAt: 1_000,
    updatedAt: 1_000,
    updatedBy: 'u1',
    ...overrides,
  };
}

export function aSet(overrides: Partial<SetRecord> = {}): SetRecord {
  const { serverId: _server, tool: _tool, ...set } = aBlock({ sealed: 'v1.set' });
  return { ...set, ...overrides };
}

const MAX_PER_OWNER = 1_000;

/** The contract of stores for owned records. */
export function blocksSuite(label: string, open: OpenStore<PrimaryStore>): void {
  ownedSuite(`blocks on ${label}`, open, 'blocks', aBlock);
  ownedSuite(`sets on ${label}`, open, 'sets', aSet);
}

function ownedSuite(
  label: string,
  open: OpenStore<PrimaryStore>,
  name: 'blocks' | 'sets',
  a: (overrides?: Partial<OwnedRecord>) => OwnedRecord,
): void {
  describe(`OwnedStore of ${label}`, () => {
    const store = useStore(open);
    const owned = () => store()[name] as unknown as OwnedStore<OwnedRecord>;
    const insert = async (...records: OwnedRecord[]) => {
      for (const record of records) expect(await owned().insert(record, MAX_PER_OWNER)).toBe('inserted');
    };
    const find = (id = 'b1', tenant = 'default') => owned().find(tenant, id);

    test('what is inserted is found unchanged, one by one and several in the order of their ids', async () => {
      const odd = a({ id: 'b2', sealed: 'v1."$&" ünïcode 李' });
      await insert(odd, a());
      expect(await find('b2')).toEqual(odd);
      expect(await find('unknown')).toBeNull();
      expect(await owned().findMany('default', ['unknown', 'b2', 'b1', 'b2'])).toEqual([a(), odd]);
      expect(await owned().findMany('default', [])).toEqual([]);
      await expect(owned().insert(a({ sealed: 'v1.twin' }), MAX_PER_OWNER)).rejects.toThrow();
      expect(await owned().remove('default', 'b1')).toBe(true);
      expect(await owned().remove('default', 'b1')).toBe(false);
      expect(await owned().findMany('default', ['b1', 'b2'])).toEqual([odd]);
    });

    test('with the id of another tenant’s block nobody reads, changes or removes it', async () => {
      await insert(a());
      expect(await find('b1', 'other')).toBeNull();
      expect(await owned().findMany('other', ['b1'])).toEqual([]);
      expect(await owned().replace(a({ tenant: 'other', version: 2 }), 1)).toBe('missing');
      expect(await owned().remove('other', 'b1')).toBe(false);
      expect(await find()).toEqual(a());
    });

    test('of 20 parallel changes of one version, one is made', async () => {
      await insert(a());
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => owned().replace(a({ version: 2, sealed: `v1.${i}` }), 1)),
      );
      expect(outcomes.filter((outcome) => outcome === 'replaced')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'version_conflict')).toHaveLength(19);
      const winner = outcomes.indexOf('replaced');
      expect(await find()).toEqual(a({ version: 2, sealed: `v1.${winner}` }));
      expect(await owned().replace(a({ id: 'nobody' }), 2)).toBe('missing');
    });

    test('of parallel insertions no more are kept than one may have', async () => {
      await insert(a({ id: 'theirs', owner: 'u2' }), a({ id: 'elsewhere', tenant: 'other' }));
      const ids = Array.from({ length: 20 }, (_, i) => `c${i}`);
      const outcomes = await Promise.all(ids.map((id) => owned().insert(a({ id }), 5)));
      const remaining = await owned().findMany('default', ids);
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(remaining.length);
      expect(remaining.length).toBeLessThanOrEqual(5);
      for (let i = remaining.length; i < 5; i += 1) {
        expect(await owned().insert(a({ id: `d${i}` }), 5)).toBe('inserted');
      }
      expect(await owned().insert(a({ id: 'e' }), 5)).toBe('full');
      expect(await store().raw.count(name)).toBe(7);
    });
  });
}

export function aRun(overrides: Partial<RunRecord> = {}): RunRecord {
  return {
    ...{ id: 'r1', tenant: 'default', userId: 'u1', setId: 's1', state: 'running', isCancelling: false },
    ...{ worker: 'w1', done: 1, total: 2, version: 1, titleSealed: 'v1.title', sealed: 'v1.run' },
    ...{ createdAt: 1_000, updatedAt: 1_000, expiresAt: 9_000 },
    ...overrides,
  };
}

const MAX_RUNNING = 1_000;

export function runsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`RunStore on ${label}`, () => {
    const store = useStore(open);
    const insert = async (...records: RunRecord[]) => {
      for (const record of records) expect(await store().runs.insert(record, MAX_RUNNING)).toBe('inserted');
    };
    const find = (id = 'r1', userId = 'u1', tenant = 'default') => store().runs.find(tenant, userId, id);
    const metadataOf = ({ sealed: _sealed, ...metadata }: RunRecord) => metadata;
    const list = async (userId = 'u1', setId = 's1', tenant = 'default') =>
      (await store().runs.list(tenant, userId, setId)).map(({ id }) => id);

    test('what is inserted is found unchanged; a list has the latest first, without what is large', async () => {
      const odd = aRun({ id: 'r2', sealed: 'v1."$&" ünïcode 李', worker: '', isCancelling: true });
      const newest = aRun({ id: 'r0', createdAt: 2_000, state: 'waiting' });
      const other = aRun({ id: 'other', setId: 's2' });
      await insert(aRun(), odd, newest, other);
      expect(await store().runs.listRunning('default', 'u1')).toEqual([odd, aRun(), other].map(metadataOf));
      expect(await find('r2')).toEqual(odd);
      expect(await find('unknown')).toBeNull();
      expect(await store().runs.findMetadata('default', 'u1', 'r2')).toEqual(metadataOf(odd));
      expect(await store().runs.findMetadata('default', 'u1', 'unknown')).toBeNull();
      expect(await store().runs.list('default', 'u1', 's1')).toEqual([newest, odd, aRun()].map(metadataOf));
      await expect(store().runs.insert(aRun({ sealed: 'v1.twin' }), MAX_RUNNING)).rejects.toThrow();
    });

    test('with the id of somebody else’s run nobody reads or changes it', async () => {
      await insert(aRun());
      for (const [userId, tenant] of [
        ['u2', 'default'],
        ['u1', 'other'],
      ] as const) {
        expect(await find('r1', userId, tenant)).toBeNull();
        expect(await store().runs.findMetadata(tenant, userId, 'r1')).toBeNull();
        expect(await list(userId, 's1', tenant)).toEqual([]);
        expect(await store().runs.listRunning(tenant, userId)).toEqual([]);
        expect(await store().runs.replace(aRun({ userId, tenant, version: 2 }), 1)).toBe('missing');
        expect(await store().runs.prune(tenant, userId, 0)).toBe(0);
      }
      expect(await find()).toEqual(aRun());
    });

    test('of 20 parallel writes over one version, one is made', async () => {
      await insert(aRun());
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store().runs.replace(aRun({ version: 2, worker: `w${i}` }), 1)),
      );
      expect(outcomes.filter((outcome) => outcome === 'replaced')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'version_conflict')).toHaveLength(19);
      expect(await find()).toEqual(aRun({ version: 2, worker: `w${outcomes.indexOf('replaced')}` }));
      expect(await store().runs.replace(aRun({ id: 'nobody' }), 2)).toBe('missing');
    });

    test('of parallel runs no more begin than one may have', async () => {
      await insert(aRun({ id: 'theirs', userId: 'u2' }), aRun({ id: 'ended', state: 'failed' }));
      const ids = Array.from({ length: 20 }, (_, i) => `c${i}`);
      const outcomes = await Promise.all(ids.map((id) => store().runs.insert(aRun({ id }), 5)));
      const started = (await list()).filter((id) => id !== 'ended');
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(started.length);
      expect(started.length).toBeLessThanOrEqual(5);
      for (let i = started.length; i < 5; i += 1) {
        expect(await store().runs.insert(aRun({ id: `d${i}` }), 5)).toBe('inserted');
      }
      expect(await store().runs.insert(aRun({ id: 'e' }), 5)).toBe('full');
      expect(await store().raw.count('runs')).toBe(7);
    });

    test('the oldest that ended go, and whose time is over; none that runs', async () => {
      const states = ['succeeded', 'running', 'waiting', 'failed', 'uncertain'] as const;
      await insert(...states.map((state, i) => aRun({ id: state, state, createdAt: i })));
      await insert(aRun({ id: 'theirs', userId: 'u2', state: 'failed', expiresAt: 5_000 }));
      expect(await store().runs.prune('default', 'u1', 2)).toBe(2);
      expect(await list()).toEqual(['uncertain', 'failed', 'running']);
      expect(await store().runs.prune('default', 'u1', 2)).toBe(0);
      expect(await store().runs.removeExpired(4_999)).toBe(0);
      expect(await store().runs.removeExpired(5_000)).toBe(1);
      expect(await find('theirs', 'u2')).toBeNull();
      expect(await list()).toHaveLength(3);
    });
  });
}
