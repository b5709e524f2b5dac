import { describe, expect, test } from '@jest/globals';
import { findNearest } from './didYouMean.ts';

describe('did you mean', () => {
  test('case, separators, swapped, missing and added letters; nothing when nothing is near', () => {
    const known = ['requiresOAuth', 'client_id', 'headers', 'timeout', 'url', 'use'];
    for (const [word, meant] of [
      ['requiresOauth', 'requiresOAuth'],
      ['requires_oauth', 'requiresOAuth'],
      ['clientId', 'client_id'],
      ['haeders', 'headers'],
      ['header', 'headers'],
      ['timeuot', 'timeout'],
      ['URL', 'url'],
      ['usee', 'use'],
    ] as const) {
      expect([word, findNearest(word, known)]).toEqual([word, meant]);
    }
    for (const word of ['foo', 'colour', '', 'x'.repeat(10_000)])
      expect(findNearest(word, known)).toBeUndefined();
  });
});
