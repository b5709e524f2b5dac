import { describe, expect, test } from '@jest/globals';
import { readChallenge } from './errors.ts';

const none = { error: undefined, scope: undefined, resourceMetadata: undefined, claims: undefined };

describe('a challenge', () => {
  for (const [what, header, expected] of [
    ['without parameters', 'Bearer', { ...none, scheme: 'bearer' }],
    [
      'with what OAuth needs',
      'Bearer realm="x", error="insufficient_scope", scope="a b", resource_metadata="https://e.com/.well-known", claims="eyJh=="',
      {
        scheme: 'bearer',
        error: 'insufficient_scope',
        scope: 'a b',
        resourceMetadata: 'https://e.com/.well-known',
        claims: 'eyJh==',
      },
    ],
    [
      'with names in any case and blanks',
      'BEARER  Scope = "a\\"b" ,ERROR=invalid_token',
      { ...none, scheme: 'bearer', scope: 'a"b', error: 'invalid_token' },
    ],
    [
      'behind another scheme',
      'Basic realm="a, Bearer error=x", Bearer scope="s"',
      { ...none, scheme: 'bearer', scope: 's' },
    ],
    ['of another scheme alone', 'Negotiate', { ...none, scheme: 'negotiate' }],
    [
      'with a parameter twice: the first counts',
      'Bearer scope="a", scope="b"',
      { ...none, scheme: 'bearer', scope: 'a' },
    ],
    ['that ends in the middle', 'Bearer scope="a', { ...none, scheme: 'bearer', scope: 'a' }],
    ['that ends in a backslash', 'Bearer scope="a\\', { ...none, scheme: 'bearer', scope: 'a' }],
    ['that is nothing', ' ,;=', undefined],
    ['that is missing', undefined, undefined],
  ] as const) {
    test(what, () => {
      expect(readChallenge(header)).toEqual(expected);
    });
  }

  test('a huge one costs no more than its first part', () => {
    for (const piece of ['Bearer ', 'a=', ',', '="', 'a="\\', 'Bearer scope="x", ']) {
      const hostile = piece.repeat(2_000_000 / piece.length);
      const cut = readChallenge(hostile.slice(0, 8_192));
      expect(readChallenge(hostile)).toEqual(cut);
    }
  });

  test('what lies behind the limit is not read', () => {
    expect(
      readChallenge(`Bearer realm="${'x'.repeat(9_000)}", error="insufficient_scope"`)?.error,
    ).toBeUndefined();
  });
});
