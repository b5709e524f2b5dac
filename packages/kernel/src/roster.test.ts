import { describe, expect, test } from '@jest/globals';
import { Roster } from './roster.ts';

describe('a roster', () => {
  test('knows who is here, in whatever order they came and went', () => {
    const roster = new Roster<{ name: string }>();
    const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    const names = () => [...roster].map(({ name }) => name).sort();
    const seats = [roster.enter(a), roster.enter(b), roster.enter(c)] as const;
    roster.leave(seats[1], b);
    expect([names(), roster.size]).toEqual([['a', 'c'], 2]);
    const d = { name: 'd' };
    expect(roster.enter(d)).toBe(seats[1]);
    expect([names(), roster.size]).toEqual([['a', 'c', 'd'], 3]);
  });

  test('lets nobody leave from the seat of another', () => {
    const roster = new Roster<object>();
    const [first, second] = [{}, {}];
    const seat = roster.enter(first);
    roster.leave(seat, first);
    expect(roster.enter(second)).toBe(seat);
    roster.leave(seat, first);
    expect([...roster]).toEqual([second]);
    roster.leave(seat, second);
    roster.leave(seat, second);
    expect([roster.size, roster.enter(first), roster.enter(second)]).toEqual([0, 0, 1]);
  });

  test('may be walked through while it changes', () => {
    const roster = new Roster<() => void>();
    const told: number[] = [];
    for (const one of [1, 2, 3]) {
      const leave = () => {
        told.push(one);
        roster.leave(seat, leave);
        roster.enter(() => told.push(one * 10));
      };
      const seat = roster.enter(leave);
    }
    for (const tell of roster) tell();
    expect([told, roster.size]).toEqual([[1, 2, 3], 3]);
  });
});
