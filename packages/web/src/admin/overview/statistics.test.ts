import { describe, expect, test } from '@jest/globals';
import { sortByCalls, sortOutcomes, latestValue, bucketTimes, findPeak, sumServers } from './statistics.ts';

const server = (name: string, calls: number[], errors: number[]) => ({
  ...{ server: name, calls, errors, p50: [], p95: [] },
});

describe('figures of servers', () => {
  test('are added up bucket by bucket, also of rows of different length', () => {
    const all = sumServers([server('a', [1, 2], [0, 1]), server('b', [10], [5])]);
    expect(all).toEqual({ calls: [11, 2], errors: [5, 1] });
    expect(sumServers([])).toEqual({ calls: [], errors: [] });
  });

  test('stand in the order of their calls, and of their names among equals', () => {
    const servers = [server('c', [1], [0]), server('b', [5], [0]), server('a', [1], [1])];
    expect(sortByCalls(servers).map((one) => one.server)).toEqual(['b', 'a', 'c']);
    expect(servers.map((one) => one.server)).toEqual(['c', 'b', 'a']);
  });

  test('have a peak and a latest value, unless there is none', () => {
    expect(findPeak([null, 3, 7, 7, null])).toEqual({ value: 7, index: 2 });
    expect(findPeak([null])).toBeUndefined();
    expect(latestValue([1, 2, null])).toBe(2);
    expect(latestValue([null])).toBeNull();
  });

  test('begin when the first bucket begins', () => {
    expect(bucketTimes({ from: 1_000, bucketMs: 60 }, 3)).toEqual([1_000, 1_060, 1_120]);
  });

  test('of outcomes stand in the order of their size', () => {
    expect(sortOutcomes({ b: 1, ok: 9, a: 1 })).toEqual([
      ['ok', 9],
      ['a', 1],
      ['b', 1],
    ]);
  });
});
