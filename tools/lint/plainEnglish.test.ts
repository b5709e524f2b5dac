import { afterAll, describe, expect, test } from '@jest/globals';
import { RuleTester } from 'eslint';
import tseslint from 'typescript-eslint';
import { findInMarkdown } from './checkMarkdown.mjs';
import { plainEnglish } from './plainEnglish.mjs';
import { adviceForName } from './vocabulary.mjs';

RuleTester.describe = describe;
RuleTester.it = test;
RuleTester.itOnly = test.only;
(RuleTester as unknown as { afterAll: typeof afterAll }).afterAll = afterAll;

const tester = new RuleTester({
  languageOptions: { parser: tseslint.parser, ecmaVersion: 2023, sourceType: 'module' },
});

tester.run('plain-english', plainEnglish, {
  valid: [
    'const pendingTokenWrites = new Map(); function acquireLease() {}',
    {
      code: 'const asked = 1;',
      filename: 'src/labels.ts',
      options: [{ exceptions: [{ name: 'asked', file: 'src/labels.ts' }] }],
    },
    "const usage = '--everybody needs a server';",
    { code: '// Nobody is told.\nconst a = 1;', options: [{ comments: false }] },
    { code: "const title = 'Nobody is told of it';", options: [{ strings: false }] },
    "const code = 'told';",
  ],
  invalid: [
    { code: 'const purse = 1;', errors: [{ messageId: 'name' }] },
    {
      code: 'const asked = 1;',
      filename: 'src/other.ts',
      options: [{ exceptions: [{ name: 'asked', file: 'src/labels.ts' }] }],
      errors: [{ messageId: 'name' }],
    },
    {
      code: 'interface ScoutParts { readonly told: number }',
      errors: [{ messageId: 'name' }, { messageId: 'name' }],
    },
    { code: 'const TOLD_AT_ONCE = 16;', errors: [{ messageId: 'name' }] },
    { code: 'function judge() {}', errors: [{ messageId: 'name' }] },
    {
      code: "const title = 'Whoever asks is told';",
      errors: [{ messageId: 'phrase' }, { messageId: 'phrase' }],
    },
    { code: 'const title = `Given to nobody in ${1} minutes`;', errors: [{ messageId: 'phrase' }] },
    { code: '// It stands on the word of the server.\nconst a = 1;', errors: [{ messageId: 'phrase' }] },
    { code: 'const a = 1;', filename: 'src/parking.ts', errors: [{ messageId: 'file' }] },
    { code: 'const a = 1;', filename: 'src/endOfTurn.test.ts', errors: [{ messageId: 'file' }] },
  ],
});

describe('banned names', () => {
  test('a banned word is found at every position of a name', () => {
    for (const name of ['toldCallers', 'callersTold', 'TOLD_AT_ONCE', 'isToldAgain', 'Told']) {
      expect(adviceForName(name)).toBeDefined();
    }
  });

  test('a name that only contains the letters of a banned word is fine', () => {
    for (const name of ['threshold', 'silent', 'talent', 'bookshelfless', 'discourse']) {
      expect(adviceForName(name)).toBeUndefined();
    }
  });
});

describe('Markdown', () => {
  test('a banned phrase is reported with its page and line', () => {
    expect(findInMarkdown('a.md', 'Fine.\n\nNobody may call it.\n')).toEqual([
      'a.md:3  "Nobody" -> name the component or role',
    ]);
  });

  test('code blocks and code spans are not checked', () => {
    expect(findInMarkdown('a.md', '```\nnobody\n```\n\nThe user `nobody` runs the process.\n')).toEqual([]);
  });

  test('quoted test titles are not checked', () => {
    expect(findInMarkdown('a.md', '- It works. ([a.test.ts](a.test.ts): "nobody is told")\n')).toEqual([]);
  });
});
