import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { equalSecrets } from './equal.ts';

describe('equalSecrets', () => {
  test('is equality, for every length', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(fc.property(text, text, (a, b) => equalSecrets(a, b) === (a === b)));
    fc.assert(
      fc.property(text, (a) => equalSecrets(a, a) && !equalSecrets(a, `${a}x`) && !equalSecrets(`x${a}`, a)),
    );
    expect(equalSecrets('', '')).toBe(true);
    expect(equalSecrets('', 'x')).toBe(false);
  });
});
