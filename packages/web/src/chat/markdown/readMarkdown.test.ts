import { describe, expect, test } from '@jest/globals';
import type { Mark } from './marks.ts';
import { readMarkdown } from './readMarkdown.ts';

/** All words of a tree. */
function wordsOf(marks: readonly Mark[]): string {
  return marks
    .map((mark) => {
      if ('text' in mark) return mark.text;
      if ('rows' in mark) return mark.rows.map(wordsOf).join(' ');
      return 'children' in mark ? wordsOf(mark.children) : '';
    })
    .join('');
}

function linksOf(marks: readonly Mark[]): string[] {
  return marks.flatMap((mark) => [
    ...(mark.kind === 'link' ? [mark.href] : []),
    ...('children' in mark ? linksOf(mark.children) : []),
  ]);
}

function depthOf(marks: readonly Mark[]): number {
  return Math.max(0, ...marks.map((mark) => ('children' in mark ? 1 + depthOf(mark.children) : 1)));
}

describe('Markdown of a model', () => {
  test('becomes headings, lists, tables and code', () => {
    expect(readMarkdown('## Hi *there*')).toEqual([
      {
        kind: 'heading',
        level: 2,
        children: [
          { kind: 'text', text: 'Hi ' },
          { kind: 'emphasis', children: [{ kind: 'text', text: 'there' }] },
        ],
      },
    ]);
    expect(readMarkdown('3. [x] done')).toEqual([
      {
        kind: 'list',
        start: 3,
        children: [
          {
            kind: 'item',
            isChecked: true,
            children: [{ kind: 'paragraph', children: [{ kind: 'text', text: 'done' }] }],
          },
        ],
      },
    ]);
    expect(readMarkdown('```js\n<b>\n```')).toEqual([{ kind: 'code', language: 'js', text: '<b>' }]);
    const [table] = readMarkdown('| a | b |\n|:--|--:|\n| 1 | ~~2~~ |');
    expect(table).toMatchObject({ kind: 'table', align: ['left', 'right'] });
    expect(table?.kind === 'table' && table.rows.map(wordsOf)).toEqual(['ab', '12']);
  });

  test('keeps HTML, footnotes and what it does not know as the text it was', () => {
    const html = 'a <img src=x onerror=alert(1)> b\n\n<script>alert(1)</script>';
    expect(JSON.stringify(readMarkdown(html))).not.toMatch(/"kind":"(?!text|paragraph)/);
    expect(wordsOf(readMarkdown(html))).toContain('<img src=x onerror=alert(1)>');
    expect(wordsOf(readMarkdown(html))).toContain('<script>alert(1)</script>');
    expect(wordsOf(readMarkdown('see[^1]\n\n[^1]: there'))).toContain('[^1]: there');
  });

  test('links to pages of the web alone, and says where', () => {
    expect(linksOf(readMarkdown('[a](https://example.com/x) <http://b.example/> www.c.example'))).toEqual([
      'https://example.com/x',
      'http://b.example/',
      'http://www.c.example/',
    ]);
    for (const url of [
      'javascript:alert(1)',
      ' JaVaScRiPt:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      '/servers',
      '//evil.example',
      'blob:https://x/1',
      'https://bank.example@evil.example/',
    ]) {
      const marks = readMarkdown(`[press me](<${url}>)`);
      expect(linksOf(marks)).toEqual([]);
      expect(wordsOf(marks)).toContain('press me');
    }
  });

  test('never makes a picture of a picture', () => {
    const marks = readMarkdown('![a secret](https://evil.example/?q=1) ![](data:image/png;base64,AA)');
    expect(linksOf(marks)).toEqual(['https://evil.example/?q=1']);
    expect(wordsOf(marks)).toContain('a secret');
  });

  test('finds named links in other pieces of the text', () => {
    const marks = readMarkdown('[here][1] and ![pic][1] and [there][2]', '[1]: https://example.com/\n');
    expect(linksOf(marks)).toEqual(['https://example.com/', 'https://example.com/']);
    expect(wordsOf(marks)).toBe('here and pic and [there][2]');
  });

  test('is not held up by what was written to hold it up', () => {
    const knots = [
      '>'.repeat(3_000),
      '_'.repeat(4_000) + 'a' + '_'.repeat(3_000),
      '['.repeat(1_500) + 'a' + '](b)'.repeat(1_500),
      '!['.repeat(1_500) + 'a' + '](b)'.repeat(1_000),
      '*a'.repeat(4_000),
      'x'.repeat(1_000_000),
    ];
    for (const knot of knots) expect(readMarkdown(knot)).toEqual([{ kind: 'plain', text: knot }]);
  });

  test('has a depth at which the rest is text', () => {
    const deep = Array.from({ length: 60 }, (_, level) => `${' '.repeat(2 * level)}- level ${level}`).join(
      '\n',
    );
    const marks = readMarkdown(deep);
    expect(depthOf(marks)).toBeLessThan(40);
    expect(wordsOf(marks)).toContain('level 59');
  });
});
