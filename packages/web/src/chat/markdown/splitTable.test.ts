import { describe, expect, test } from '@jest/globals';
import { parseMarkdown, splitTable } from './parseMarkdown.ts';

const head = '| a | b |\n|:--|--:|\n';
const rows = Array.from({ length: 400 }, (_, row) => `| cell ${row} | **${row}** |\n`);

describe('a large table', () => {
  test('is read in pieces that have all of its rows', () => {
    const chunks = splitTable(head + rows.join(''));
    expect(chunks?.head).toBe(head);
    expect(chunks?.bodies.join('')).toBe(rows.join(''));
    expect(chunks!.bodies.length).toBeGreaterThan(3);
    const read = chunks!.bodies.flatMap((body) => {
      const [table] = parseMarkdown(head + body);
      return table?.kind === 'table' ? table.rows.slice(1) : [];
    });
    expect(read).toHaveLength(400);
  });

  test('only changes at its end when rows are added', () => {
    const before = splitTable(head + rows.slice(0, 200).join(''))!.bodies;
    const after = splitTable(head + rows.join(''))!.bodies;
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
  });

  test('is told apart from a small one, and from what is none', () => {
    expect(splitTable(head + rows.slice(0, 3).join(''))).toBeUndefined();
    expect(splitTable('word '.repeat(1_000))).toBeUndefined();
    expect(splitTable(`| a | b |\nno line\n${rows.join('')}`)).toBeUndefined();
    // A list ends a table, and would be lost among its rows.
    expect(splitTable(`${head}${rows.join('')}- a list\n`)).toBeUndefined();
  });
});
