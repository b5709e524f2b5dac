import { describe, expect, test } from '@jest/globals';
import { RE2JS } from 're2js';
import { compileSchema } from './compileSchema.ts';
import { createLinearPattern, createPatternBudget, estimatePatternSize } from './linearPattern.ts';
import { UncheckableSchemaError } from './costBudget.ts';

describe('the size of a pattern', () => {
  test('it is about what the engine would build', () => {
    const patterns = [
      '^a$',
      '^[a-z0-9]{1,64}$',
      '^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
      '(a{30}){30}',
      '(x?){1000}',
      '((a*)*){100}',
      '(a{2,}){50}',
      '(?:(?:a?){10}){10}',
      '[^\\]]{50}\\p{L}{50}\\{3}',
      '[(]{5}(x{100})',
      '(a|b|cd|efg){20}',
    ];
    for (const pattern of patterns) {
      const built = RE2JS.compile(RE2JS.translateRegExp(pattern)).programSize();
      expect([pattern, estimatePatternSize(pattern) * 2 >= built]).toEqual([pattern, true]);
      expect([pattern, estimatePatternSize(pattern) <= built * 4]).toEqual([pattern, true]);
    }
    expect(estimatePatternSize(`${'('.repeat(200)}a${'{1000})'.repeat(200)}`) <= 5_000).toBe(false);
  });

  test('one that is too large is not even built', () => {
    const pattern = '[\\s\\S]{1000}'.repeat(600);
    expect(compileSchema({ properties: { a: { pattern } } }).isPartial).toBe(true);
    // What is built is taken off the budget.
    const budget = createPatternBudget();
    const before = budget.programSize;
    expect(() => createLinearPattern(pattern, budget, { remaining: 1_000 })).toThrow(UncheckableSchemaError);
    expect(budget.programSize).toBe(before);
  });
});
