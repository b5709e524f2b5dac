import { expect, test } from '@jest/globals';
import { LruMap } from './index.ts';

test('a full map evicts the entry that was least recently read or written', () => {
  const map = new LruMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  expect(map.get('a')).toBe(1);
  map.set('c', 3);
  expect([...map]).toEqual([
    ['a', 1],
    ['c', 3],
  ]);
  map.set('a', 4);
  map.set('d', 5);
  expect([map.has('c'), map.get('a'), map.size]).toEqual([false, 4, 2]);
});

test('peek does not count as a use', () => {
  const map = new LruMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  expect(map.peek('a')).toBe(1);
  map.set('c', 3);
  expect([...map.keys()]).toEqual(['b', 'c']);
});

test('delete reports whether the key existed', () => {
  const map = new LruMap<string, number>(2);
  map.set('a', 1);
  expect([map.delete('a'), map.delete('a'), map.size]).toEqual([true, false, 0]);
});
