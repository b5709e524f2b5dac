import { describe, expect, test } from '@jest/globals';
import { ActiveSet } from './collections.ts';

describe('a roster', () => {
  test('knows who is here, in whatever order they came and went', () => {
    const roster = new ActiveSet<{ name: string }>();
    const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    const names = () => [...roster].map(({ name }) => name).sort();
    const seats = [roster.add(a), roster.add(b), roster.add(c)] as const;
    roster.remove(seats[1], b);
    expect([names(), roster.size]).toEqual([['a', 'c'], 2]);
    const d = { name: 'd' };
    expect(roster.add(d)).toBe(seats[1]);
    expect([names(), roster.size]).toEqual([['a', 'c', 'd'], 3]);
  });

  test('lets nobody leave from the seat of another', () => {
    const roster = new ActiveSet<object>();
    const [first, second] = [{}, {}];
    const seat = roster.add(first);
    roster.remove(seat, first);
    expect(roster.add(second)).toBe(seat);
    roster.remove(seat, first);
    expect([...roster]).toEqual([second]);
    roster.remove(seat, second);
    roster.remove(seat, second);
    expect([roster.size, roster.add(first), roster.add(second)]).toEqual([0, 0, 1]);
  });

  test('may be walked through while it changes', () => {
    const roster = new ActiveSet<() => void>();
    const received: number[] = [];
    for (const one of [1, 2, 3]) {
      const leave = () => {
        received.push(one);
        roster.remove(seat, leave);
        roster.add(() => received.push(one * 10));
      };
      const seat = roster.add(leave);
    }
    for (const tell of roster) tell();
    expect([received, roster.size]).toEqual([[1, 2, 3], 3]);
  });
});
