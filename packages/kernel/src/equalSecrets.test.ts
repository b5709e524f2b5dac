import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { areSecretsEqual } from './secrets.ts';

describe('equalSecrets', () => {
  test('is equality, for every length', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(fc.property(text, text, (a, b) => areSecretsEqual(a, b) === (a === b)));
    fc.assert(
      fc.property(
        text,
        (a) => areSecretsEqual(a, a) && !areSecretsEqual(a, `${a}x`) && !areSecretsEqual(`x${a}`, a),
      ),
    );
    expect(areSecretsEqual('', '')).toBe(true);
    expect(areSecretsEqual('', 'x')).toBe(false);
  });
});
