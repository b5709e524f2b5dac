import { describe, expect, test } from '@jest/globals';
import { type MarkdownNode, parseMarkdown } from './parseMarkdown.ts';

/** All words of a tree. */
function wordsOf(nodes: readonly MarkdownNode[]): string {
  return nodes
    .map((node) => {
      if ('text' in node) return node.text;
      if ('rows' in node) return node.rows.map(wordsOf).join(' ');
      return 'children' in node ? wordsOf(node.children) : '';
    })
    .join('');
}

function linksOf(nodes: readonly MarkdownNode[]): string[] {
  return nodes.flatMap((node) => [
    ...(node.kind === 'link' ? [node.href] : []),
    ...('children' in node ? linksOf(node.children) : []),
  ]);
}

function depthOf(nodes: readonly MarkdownNode[]): number {
  return Math.max(0, ...nodes.map((node) => ('children' in node ? 1 + depthOf(node.children) : 1)));
}

describe('Markdown of a model', () => {
  test('becomes headings, lists, tables and code', () => {
    expect(parseMarkdown('## Hi *there*')).toEqual([
      {
        kind: 'heading',
        level: 2,
        children: [
          { kind: 'text', text: 'Hi ' },
          { kind: 'emphasis', children: [{ kind: 'text', text: 'there' }] },
        ],
      },
    ]);
    expect(parseMarkdown('3. [x] done')).toEqual([
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
    expect(parseMarkdown('```js\n<b>\n```')).toEqual([{ kind: 'code', language: 'js', text: '<b>' }]);
    const [table] = parseMarkdown('| a | b |\n|:--|--:|\n| 1 | ~~2~~ |');
    expect(table).toMatchObject({ kind: 'table', align: ['left', 'right'] });
    expect(table?.kind === 'table' && table.rows.map(wordsOf)).toEqual(['ab', '12']);
  });

  test('keeps HTML, footnotes and what it does not know as the text it was', () => {
    const html = 'a <img src=x onerror=alert(1)> b\n\n<script>alert(1)</script>';
    expect(JSON.stringify(parseMarkdown(html))).not.toMatch(/"kind":"(?!text|paragraph)/);
    expect(wordsOf(parseMarkdown(html))).toContain('<img src=x onerror=alert(1)>');
    expect(wordsOf(parseMarkdown(html))).toContain('<script>alert(1)</script>');
    expect(wordsOf(parseMarkdown('see[^1]\n\n[^1]: there'))).toContain('[^1]: there');
  });

  test('links to pages of the web alone, and says where', () => {
    expect(linksOf(parseMarkdown('[a](https://example.com/x) <http://b.example/> www.c.example'))).toEqual([
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
      const nodes = parseMarkdown(`[press me](<${url}>)`);
      expect(linksOf(nodes)).toEqual([]);
      expect(wordsOf(nodes)).toContain('press me');
    }
  });

  test('never makes a picture of a picture', () => {
    const nodes = parseMarkdown('![a secret](https://evil.example/?q=1) ![](data:image/png;base64,AA)');
    expect(linksOf(nodes)).toEqual(['https://evil.example/?q=1']);
    expect(wordsOf(nodes)).toContain('a secret');
  });

  test('finds named links in other pieces of the text', () => {
    const nodes = parseMarkdown('[here][1] and ![pic][1] and [there][2]', '[1]: https://example.com/\n');
    expect(linksOf(nodes)).toEqual(['https://example.com/', 'https://example.com/']);
    expect(wordsOf(nodes)).toBe('here and pic and [there][2]');
  });

  test('is not held up by what was written to hold it up', () => {
    const pathologicalTexts = [
      '>'.repeat(3_000),
      '_'.repeat(4_000) + 'a' + '_'.repeat(3_000),
      '['.repeat(1_500) + 'a' + '](b)'.repeat(1_500),
      '!['.repeat(1_500) + 'a' + '](b)'.repeat(1_000),
      '*a'.repeat(4_000),
      'x'.repeat(1_000_000),
    ];
    for (const text of pathologicalTexts)
      expect(parseMarkdown(text)).toEqual([{ kind: 'plain', text: text }]);
  });

  test('has a depth at which the rest is text', () => {
    const deep = Array.from({ length: 60 }, (_, level) => `${' '.repeat(2 * level)}- level ${level}`).join(
      '\n',
    );
    const nodes = parseMarkdown(deep);
    expect(depthOf(nodes)).toBeLessThan(40);
    expect(wordsOf(nodes)).toContain('level 59');
  });
});
