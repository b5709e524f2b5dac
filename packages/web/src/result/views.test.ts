import { describe, expect, test } from '@jest/globals';
import { chunkText, CHUNK_LINES } from './chunkText.ts';
import { columnWidths, toResultTable } from './resultTable.ts';
import { formatJson, isEqualJson } from './json.ts';

describe('a long text', () => {
  test('is cut into pieces of as many lines, and nothing is lost', () => {
    const text = Array.from({ length: 2_000 }, (_, index) => `line ${index}`).join('\n');
    const chunks = chunkText(text);
    expect(chunks).toHaveLength(2_000 / CHUNK_LINES);
    expect(chunks.every((chunk) => chunk.split('\n').length === CHUNK_LINES)).toBe(true);
    expect(chunks.join('\n')).toBe(text);
  });

  test('keeps empty lines at its ends', () => {
    expect(chunkText('')).toEqual(['']);
    expect(chunkText('\n\na\n')).toEqual(['\n\na\n']);
    const ends = `${'\n'.repeat(CHUNK_LINES)}x`;
    expect(chunkText(ends).join('\n')).toBe(ends);
  });

  test('is cut also where a line has no end', () => {
    const line = `${'x'.repeat(19_999)}😀${'y'.repeat(100_000)}`;
    const chunks = chunkText(line);
    expect(chunks.length).toBeGreaterThan(5);
    expect(chunks.join('')).toBe(line);
    expect(chunks.some((chunk) => /[\ud800-\udbff]$|^[\udc00-\udfff]/.test(chunk))).toBe(false);
    const mixed = `short\n${'z'.repeat(30_000)}\nend`;
    expect(chunkText(mixed)[0]).toBe('short');
    expect(chunkText(mixed).at(-1)).toMatch(/z\nend$/);
  });
});

describe('JSON that came as text', () => {
  test('is indented', () => {
    expect(formatJson('{"a":[1,{"b":"x: [y], \\"z\\""}],"c":{},"d":[]}')).toBe(
      [
        '{',
        '  "a": [',
        '    1,',
        '    {',
        '      "b": "x: [y], \\"z\\""',
        '    }',
        '  ],',
        '  "c": {},',
        '  "d": []',
        '}',
      ].join('\n'),
    );
    expect(formatJson(' [ ] ')).toBe('[]');
  });

  test('keeps every number and name as it was written', () => {
    const pretty = formatJson('{"id":12345678901234567890,"x":1.50,"x":2}');
    expect(pretty).toContain('12345678901234567890');
    expect(pretty).toContain('"x": 1.50');
    expect(pretty).toContain('"x": 2');
  });

  test('is left alone where it is none, or too large', () => {
    for (const text of ['hello', '12', '"text"', '{"a":', '[1,2', ''])
      expect(formatJson(text)).toBeUndefined();
    expect(formatJson(`[${'1,'.repeat(300_000)}1]`)).toBeUndefined();
    expect(formatJson('['.repeat(5_000) + ']'.repeat(5_000))).toBeUndefined();
  });
});

describe('a table', () => {
  test('is read from flat objects, whose columns are all their names', () => {
    expect(
      toResultTable([
        { a: 1, b: 'x' },
        { b: null, c: true },
      ]),
    ).toEqual({
      name: undefined,
      columns: ['a', 'b', 'c'],
      rows: [
        [1, 'x', undefined],
        [undefined, null, true],
      ],
      isKeyValue: false,
    });
    expect(toResultTable({ users: [{ id: 1 }] })).toMatchObject({ name: 'users', columns: ['id'] });
  });

  test('is read from an object of single values', () => {
    expect(toResultTable({ temperature: 22.5, sky: 'clear' })).toMatchObject({
      isKeyValue: true,
      rows: [
        ['temperature', 22.5],
        ['sky', 'clear'],
      ],
    });
  });

  test('is not made of anything else', () => {
    for (const value of [[], {}, [1], [{}], [{ a: [1] }], { a: { b: 1 } }, 'x', null, [{ a: 1 }, 2]]) {
      expect(toResultTable(value)).toBeUndefined();
    }
    const wide = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`c${index}`, index]));
    expect(toResultTable([wide])).toBeUndefined();
  });

  test('takes the names of prototypes for names', () => {
    const row: unknown = JSON.parse('{"__proto__":1,"constructor":"x"}');
    expect(toResultTable([row, { a: 1 }])).toMatchObject({
      columns: ['__proto__', 'constructor', 'a'],
      rows: [
        [1, 'x', undefined],
        [undefined, undefined, 1],
      ],
    });
  });
});

describe('the columns of a table', () => {
  test('are as wide as what stands in them, within limits', () => {
    const table = toResultTable([{ id: 1, note: 'x'.repeat(500) }, { id: 12_345_678 }]);
    expect(table && columnWidths(table)).toEqual({
      template: 'minmax(calc(9ch + 1.5rem), 8fr) minmax(calc(20ch + 1.5rem), 60fr)',
      minWidth: 'calc(29ch + 3rem)',
    });
    const pairs = toResultTable({ a: 1 });
    expect(pairs && columnWidths(pairs)).toEqual({});
  });
});

describe('two values', () => {
  test('are the same in whatever order their names stand', () => {
    expect(isEqualJson({ a: 1, b: [null] }, { b: [null], a: 1 })).toBe(true);
    expect(isEqualJson({ a: 1 }, { a: 1, b: 2 })).toBe(false);
    expect(isEqualJson([1], { 0: 1 })).toBe(false);
    expect(isEqualJson({ toString: 1 }, { a: 1 })).toBe(false);
  });

  test('count as different where comparing them would take too long', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
    expect(isEqualJson(nested(1_000), nested(1_000))).toBe(false);
    const long = new Array<number>(60_000).fill(0);
    expect(isEqualJson(long, [...long])).toBe(false);
  });
});
