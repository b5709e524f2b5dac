import { describe, expect, test } from '@jest/globals';
import { chunkExactLines, formatExactLines } from './exactLines.ts';
import { escapeInvisible } from '../ui/escapeInvisible.ts';

/** What stands in the box, with its line ends but without what only lays it out. */
function shown(value: unknown): string {
  return chunkExactLines(formatExactLines(value))
    .flat()
    .map(({ number, depth, name, text, hasTrailingComma }) =>
      [
        number === undefined ? '' : `\n${'  '.repeat(depth)}`,
        name === undefined ? '' : `${name}: `,
        text,
        hasTrailingComma ? ',' : '',
      ].join(''),
    )
    .join('')
    .slice(1);
}

describe('arguments that somebody approves', () => {
  test('are shown as JSON, and a text is told from a value', () => {
    const args = {
      text: 'true',
      truth: true,
      empty: '',
      nothing: null,
      nested: { list: [1, 'two', [], {}, [{ deep: 'x' }]] },
      'a "name"': 'a\nb\\u202e',
    };
    expect(shown(args)).toBe(JSON.stringify(args, null, 2));
    expect(shown({})).toBe('{}');
    expect(shown(JSON.parse('{"__proto__":1,"constructor":{}}'))).toBe(
      '{\n  "__proto__": 1,\n  "constructor": {}\n}',
    );
    expect(shown({ missing: undefined, list: [undefined, NaN, -0] })).toBe(
      JSON.stringify({ list: [null, null, 0] }, null, 2),
    );
  });

  test('are whole, however long, many or deep they are', () => {
    const args = {
      long: '😀x'.repeat(100_000),
      many: Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, index])),
    };
    expect(shown(args)).toBe(JSON.stringify(args, null, 2));
    const chunks = chunkExactLines(formatExactLines(args));
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(50);
    expect(Math.max(...chunks.flat().map(({ text }) => text.length))).toBeLessThanOrEqual(4_000);
    const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    expect(formatExactLines(deep)).toHaveLength(199_999);
  });

  test('have no number where a line only goes on', () => {
    const pieces = chunkExactLines(formatExactLines({ text: 'x'.repeat(9_000), next: 1 })).flat();
    expect(pieces.map(({ number }) => number)).toEqual([1, 2, undefined, undefined, 3, 4]);
  });

  test('hide nothing and turn nothing around', () => {
    for (const unseen of [
      ...['\u202e', '\u2066', '\u2069', '\u200b', '\u200d', '\ufeff', '\u00ad', '\u061c', '\u034f'],
      ...['\u3164', '\u2028', '\u00a0', '\u3000', '\u2800', '\u007f', '\u0085', '\ufe0f', '\ue000'],
      ...['\u{e0041}', '\u{1d173}', '\ud800'],
    ]) {
      const text = shown({ [`a${unseen}b`]: `c${unseen}d` });
      expect(text).not.toContain(unseen);
      expect(text).toMatch(/"a(\\u[0-9a-f]{4})+b": "c(\\u[0-9a-f]{4})+d"/);
      expect(JSON.parse(text)).toEqual({ [`a${unseen}b`]: `c${unseen}d` });
    }
  });

  test('are otherwise left as they are', () => {
    for (const text of ['plain words', 'Grüße, 世界 שלום 😀']) expect(escapeInvisible(text)).toBe(text);
    expect(escapeInvisible('pay\u202eeno\n')).toBe('pay\\u202eeno\\u000a');
  });
});
