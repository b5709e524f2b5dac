import { createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { RunRecord, SetRecord } from '../ports/index.ts';
import { type BlockSet, type SetRun, createSavedSets, createSealedRuns } from './store.ts';

const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);

function rig() {
  const store = openMemoryStore({ clock: createFakeClock(), random: systemRandom });
  const logged: string[] = [];
  const log = (event: string) => void logged.push(event);
  const sets = createSavedSets({ store: store.sets, keyring, log });
  return { store, logged, sets, runs: createSealedRuns({ store: store.runs, keyring, log }) };
}

const aSet: BlockSet = {
  ...{ id: 's1', tenant: 'default', owner: 'ada', version: 1, createdAt: 1, updatedAt: 1, updatedBy: 'ada' },
  title: 'About pl4nted',
  steps: [{ key: 'a', block: 'b1', inputs: { text: { mode: 'fixed', value: 'pl4nted' } } }],
};

const aRun: SetRun = {
  ...{ id: 'r1', tenant: 'default', userId: 'ada', setId: 's1', state: 'waiting', isCancelling: false },
  ...{ worker: '', done: 1, total: 1, version: 1, createdAt: 1, updatedAt: 1, expiresAt: 9 },
  title: 'About pl4nted',
  steps: [
    {
      ...{ key: 'a', block: 'b1', title: 'pl4nted', server: 'mail', tool: 'send', state: 'succeeded' },
      ...{ startedAt: 1, endedAt: 2, inputs: {}, providedInputs: { text: 'pl4nted' }, mayGoOn: false },
      result: { content: [{ type: 'text', text: 'pl4nted' }], isError: false },
    },
  ],
};

describe('sets and runs in the store', () => {
  test('are read back whole, and hold no word of theirs in clear', async () => {
    const { store, sets, runs } = rig();
    await sets.insert(aSet);
    await runs.insert(aRun);
    expect(await sets.find('default', 's1')).toEqual(aSet);
    expect(await runs.find('default', 'ada', 'r1')).toEqual(aRun);
    const { steps: _steps, ...head } = aRun;
    expect(await runs.list('default', 'ada', 's1')).toEqual([head]);
    const rows = [await store.raw.page('sets', null, 9), await store.raw.page('runs', null, 9)];
    expect(JSON.stringify(rows)).not.toMatch(/pl4nted|mail|About/);
  });

  test('that were moved elsewhere past us are not there', async () => {
    for (const moved of [
      { owner: 'bob' },
      { tenant: 'other' },
      { id: 's9' },
    ] satisfies Partial<SetRecord>[]) {
      const { store, sets, logged } = rig();
      await sets.insert(aSet);
      const [row] = await store.raw.page('sets', null, 1);
      const changed = { ...row!, ...moved };
      await store.raw.put('sets', [changed]);
      expect([await sets.find(changed.tenant, changed.id), logged]).toEqual([null, ['set_unreadable']]);
    }
    for (const moved of [
      { userId: 'bob' },
      { tenant: 'other' },
      { setId: 's2' },
      { id: 'r9' },
    ] satisfies Partial<RunRecord>[]) {
      const { store, runs, logged } = rig();
      await runs.insert(aRun);
      const [row] = await store.raw.page('runs', null, 1);
      const changed = { ...row!, ...moved };
      await store.raw.remove('runs', [row!.id]);
      await store.raw.put('runs', [changed]);
      expect(await runs.find(changed.tenant, changed.userId, changed.id)).toBeNull();
      expect(await runs.list(changed.tenant, changed.userId, changed.setId)).toEqual([]);
      expect(logged).toEqual(['run_unreadable', 'run_unreadable']);
    }
    const { store, runs } = rig();
    await runs.insert(aRun);
    const [row] = await store.raw.page('runs', null, 1);
    await store.raw.put('runs', [{ ...row!, sealed: row!.titleSealed }]);
    expect(await runs.find('default', 'ada', 'r1')).toBeNull();
    await store.raw.put('runs', [{ ...row!, titleSealed: row!.sealed }]);
    expect(await runs.list('default', 'ada', 's1')).toEqual([]);
  });
});
