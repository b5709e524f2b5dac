import { describe, expect, test } from '@jest/globals';
import {
  addToPages,
  dayGroup,
  flattenPages,
  groupByDay,
  removeFromPages,
  renameInPages,
} from './conversationPages.ts';

const one = (id: string, title = id) => ({ id, title, createdAt: 1, updatedAt: 1 });
const pages = () => ({
  pages: [
    { conversations: [one('a'), one('b')], next: 'n' },
    { conversations: [one('b'), one('c')], next: null },
  ],
  pageParams: ['', 'n'],
});
const ids = (of: Parameters<typeof flattenPages>[0]) => flattenPages(of).map(({ id }) => id);

describe('the list of conversations', () => {
  test('has each one once', () => {
    expect(ids(pages())).toEqual(['a', 'b', 'c']);
    expect(flattenPages(undefined)).toEqual([]);
  });

  test('is changed in place: what was talked in comes first, what is deleted goes, a new title shows', () => {
    expect(ids(addToPages(pages(), one('c', 'new title')))).toEqual(['c', 'a', 'b']);
    expect(ids(addToPages(pages(), one('d')))).toEqual(['d', 'a', 'b', 'c']);
    expect(ids(removeFromPages(pages(), 'b'))).toEqual(['a', 'c']);
    expect(flattenPages(renameInPages(pages(), one('b', 'renamed')))[1]?.title).toBe('renamed');
    // Nothing was read yet: it will be, with this one in it.
    expect(addToPages(undefined, one('d'))).toBeUndefined();
  });
});

describe('the day of a conversation', () => {
  const now = new Date(2026, 4, 20, 15, 30).getTime();
  const at = (...date: [number, number, number, number?]) => new Date(...date).getTime();

  test('goes by midnights, and not by hours', () => {
    expect(dayGroup(at(2026, 4, 20, 0), now)).toBe('today');
    expect(dayGroup(at(2026, 4, 19, 23), now)).toBe('yesterday');
    expect(dayGroup(at(2026, 4, 13), now)).toBe('week');
    expect(dayGroup(at(2026, 4, 1), now)).toBe('month');
    expect(dayGroup(at(2025, 4, 1), now)).toBe('older');
    expect(dayGroup(now + 60_000, now)).toBe('today');
  });

  test('gathers them under it', () => {
    const entries = [{ updatedAt: now }, { updatedAt: at(2026, 4, 19) }, { updatedAt: now - 1 }];
    expect(groupByDay(entries, now).map(({ group, entries: { length } }) => [group, length])).toEqual([
      ['today', 2],
      ['yesterday', 1],
    ]);
  });
});
