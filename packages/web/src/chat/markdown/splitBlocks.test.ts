import { describe, expect, test } from '@jest/globals';
import { appendText, listBlocks, emptyBlocks } from './splitBlocks.ts';

const split = (text: string) => listBlocks(appendText(emptyBlocks, text));

const answer = `# Title

First paragraph
over two lines.

1. one

   more of one

2. two

   \`\`\`js
   const a = 1;

   const b = 2;
   \`\`\`

After the list.
\`\`\`\`md
\`\`\`
not the end

\`\`\`
\`\`\`\`
Right after.

| a | b |
|---|---|
| 1 | 2 |

- [ ] task
- done

[here][1]

[1]: https://example.com/
`;

describe('blocks of Markdown', () => {
  test('are cut at blank lines and fences, and nothing is lost', () => {
    const blocks = split(answer);
    expect(blocks.join('')).toBe(answer);
    expect(blocks.map((block) => block.trim().split('\n')[0])).toEqual([
      '# Title',
      'First paragraph',
      '1. one',
      'After the list.',
      '````md',
      'Right after.',
      '| a | b |',
      '- [ ] task',
      '[here][1]',
      '[1]: https://example.com/',
    ]);
  });

  test('are the same however the text arrived', () => {
    const whole = appendText(emptyBlocks, answer);
    for (const size of [1, 2, 3, 7, 50]) {
      let blocks = emptyBlocks;
      for (let at = 0; at < answer.length; at += size)
        blocks = appendText(blocks, answer.slice(at, at + size));
      expect(blocks).toEqual(whole);
    }
  });

  test('leave all but the last as they were when something is appended', () => {
    const before = appendText(emptyBlocks, 'one\n\ntwo\n\nthr');
    const after = appendText(before, 'ee\n\nfour');
    expect(before.completed).toEqual(['one\n\n']);
    expect(after.completed.slice(0, before.completed.length)).toEqual(before.completed);
    expect(after.pending).toBe('three\n\nfour');
  });

  test('wait for the end of a line: a number may become an item', () => {
    const before = appendText(emptyBlocks, '1. a\n\n2');
    expect(listBlocks(appendText(before, '. b\n'))).toEqual(['1. a\n\n2. b\n']);
  });

  test('know code that is not closed yet', () => {
    const open = appendText(emptyBlocks, 'Look:\n```js\nconst a = 1;\n\nconst b');
    expect(open.completed).toEqual(['Look:\n']);
    expect(open.pending).toBe('```js\nconst a = 1;\n\nconst b');
    expect(open.isCode).toBe(true);
    expect(appendText(open, ' = 2;\n```\n').isCode).toBe(false);
    // A fence cannot have its own sign in what stands beside it.
    expect(appendText(emptyBlocks, '```not``` code\n').isCode).toBe(false);
  });

  test('cut a long list between its items', () => {
    const blocks = split('- an item of some length, with words\n'.repeat(1_000));
    expect(blocks.length).toBeGreaterThan(10);
    expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThan(2_100);
  });

  test('collect where named links lead', () => {
    const { definitions } = appendText(
      emptyBlocks,
      '[a][1]\n\n[1]: https://example.com/\n[^1]: a footnote\n',
    );
    expect(definitions).toBe('[1]: https://example.com/\n');
  });
});
