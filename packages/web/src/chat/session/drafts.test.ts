import { describe, expect, test } from '@jest/globals';
import { createStore } from '../../app/store.ts';
import { createDrafts } from './drafts.ts';

/** What a browser keeps, in a map. */
function createStorage(entries: Map<string, string>): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  return {
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => void entries.set(key, value),
    removeItem: (key) => void entries.delete(key),
  };
}

describe('what was written and not sent', () => {
  test('is read by who wrote it, and by nobody who signs in after them', () => {
    const storage = createStorage(new Map());
    const ada = createDrafts(createStore<string | undefined>('ada'), () => storage);
    ada.write('k1', 'mine');
    ada.write(undefined, 'also mine');
    const bob = createDrafts(createStore<string | undefined>('bob'), () => storage);
    expect([bob.read('k1'), bob.read(undefined)]).toEqual(['', '']);
    expect([ada.read('k1'), ada.read(undefined)]).toEqual(['mine', 'also mine']);
  });

  test('is kept and read once it is known whose it is', () => {
    const stored = new Map<string, string>();
    const owner = createStore<string | undefined>(undefined);
    const drafts = createDrafts(owner, () => createStorage(stored));
    const callCount: string[] = [];
    drafts.whenOwnerKnown(() => callCount.push('now'));
    drafts.write('k1', 'whose?');
    expect([stored.size, callCount.length]).toEqual([0, 0]);
    owner.set('ada');
    drafts.whenOwnerKnown(() => callCount.push('at once'));
    expect(callCount).toEqual(['now', 'at once']);
  });
});
