import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { barsPath, columnAt, linePath, maxValue, nextColumn, roundUpToStep } from './geometry.ts';

const box = { width: 100, height: 10 };

describe('the scale of a chart', () => {
  test('ends at a round number', () => {
    expect([0, 0.4, 1, 1.1, 2, 3, 7, 10, 11, 49, 51, 99, 101, 1_999].map(roundUpToStep)).toEqual([
      ...[1, 1, 1, 2, 2, 5, 10, 10, 20, 50, 100, 100, 200, 2_000],
    ]);
    expect(roundUpToStep(Number.NaN)).toBe(1);
  });

  test('no value is taller than its chart, and none is lost in it', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1e12, noNaN: true }), (largest) => {
        const ceiling = roundUpToStep(largest);
        expect(ceiling).toBeGreaterThanOrEqual(largest * (1 - 1e-8));
        expect(ceiling).toBeLessThanOrEqual(largest * 2.5 * (1 + 1e-8));
      }),
    );
  });

  test('knows the largest of what is there', () => {
    expect(maxValue([[null, 3, 1], [], [null], [2]])).toBe(3);
    expect(maxValue([])).toBe(0);
  });

  test('pointer and keys lead to a column that exists', () => {
    expect([-1, 0, 0.49, 0.5, 0.99, 1, 7].map((share) => columnAt(share, 2))).toEqual([0, 0, 0, 1, 1, 1, 1]);
    const press = (column: number | null) => (key: string) => nextColumn(key, column, 3);
    expect(['ArrowLeft', 'ArrowRight', 'Home', 'End', 'a'].map(press(null))).toEqual([2, 2, 0, 2, undefined]);
    expect(['ArrowLeft', 'ArrowRight'].map(press(0))).toEqual([0, 1]);
    expect(['ArrowLeft', 'ArrowRight'].map(press(2))).toEqual([1, 2]);
  });
});

describe('what a chart draws', () => {
  test('is a bar for each value above zero, from the bottom up', () => {
    expect(barsPath([5, 0, null, 10], 10, box)).toBe('M3.75 10v-5h17.5v5zM78.75 10v-10h17.5v10z');
    expect(barsPath([], 1, box)).toBe('');
  });

  test('is a line that breaks where there is no value, and a dot for a value alone', () => {
    expect(linePath([0, 10, null, 5], 10, box)).toBe('M12.5 10h0L37.5 0M87.5 5h0');
    expect(linePath([null, null], 10, box)).toBe('');
  });
});
