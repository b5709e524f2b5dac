import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { repositoryRoot } from '../tools/sources.ts';

const PAGE = 'docs/reference/guarantees.md';
const MAX_LINES = 200;
const MAX_WORDS = 25;
/** `- Sentence. ([file.test.ts](../../path/file.test.ts): "title")` */
const ITEM = /^- (?<sentence>.+\.) \(\[(?<name>[^\]]+)\]\(\.\.\/\.\.\/(?<path>[^)]+)\): "(?<title>[^"]+)"\)$/;

describe('the page of guarantees', () => {
  test('names an existing test for each guarantee and no guarantee twice', () => {
    const lines = readFileSync(join(repositoryRoot, PAGE), 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(MAX_LINES);
    expect(lines.filter((line) => line.startsWith('- ')).length).toBeGreaterThan(80);
    expect(problemsOf(lines)).toEqual([]);
  });

  test('the check reports each kind of mistake', () => {
    const own = (title: string) => `([guarantees.test.ts](../../test/guarantees.test.ts): "${title}")`;
    const existing = own('the check reports each kind of mistake');
    expect(problemsOf(['# Title', '', `- It works. ${existing}`])).toEqual([]);
    expect(problemsOf([`- It works. ${existing}`, `- It works. ${existing}`])).toEqual(['twice: It works.']);
    expect(problemsOf(['- It works.'])).toEqual(['not a guarantee: - It works.']);
    expect(problemsOf([`- It works. ${own('another title')}`])).toEqual([
      'test/guarantees.test.ts has no test "another title"',
    ]);
    expect(problemsOf(['- It works. ([a.test.ts](../../test/a.test.ts): "a")'])).toEqual([
      'test/a.test.ts does not exist',
    ]);
    const long = `It ${'really '.repeat(MAX_WORDS)}works.`;
    expect(problemsOf([`- ${long} ${existing}`])).toEqual([`more than ${MAX_WORDS} words: ${long}`]);
    expect(problemsOf(['- It works. ([b.test.ts](../../test/guarantees.test.ts): "x")'])).toEqual([
      'b.test.ts is not the name of test/guarantees.test.ts',
      'test/guarantees.test.ts has no test "x"',
    ]);
  });
});

function problemsOf(lines: readonly string[]): string[] {
  const problems: string[] = [];
  const sentences = new Set<string>();
  const titles = new Map<string, ReadonlySet<string>>();
  for (const line of lines) {
    if (line === '' || /^(?:#{1,2} )?[A-Z]/.test(line)) continue;
    const groups = ITEM.exec(line)?.groups;
    if (!groups) {
      problems.push(`not a guarantee: ${line}`);
      continue;
    }
    const { sentence = '', name = '', path = '', title = '' } = groups;
    if (sentences.has(sentence)) problems.push(`twice: ${sentence}`);
    sentences.add(sentence);
    if (sentence.split(/\s+/).length > MAX_WORDS) problems.push(`more than ${MAX_WORDS} words: ${sentence}`);
    if (!path.endsWith(`/${name}`)) problems.push(`${name} is not the name of ${path}`);
    if (!existsSync(join(repositoryRoot, path))) {
      problems.push(`${path} does not exist`);
      continue;
    }
    const known = titles.get(path) ?? titlesIn(path);
    titles.set(path, known);
    if (!known.has(title)) problems.push(`${path} has no test "${title}"`);
  }
  return problems;
}

/** The titles of the tests of a file that are string literals. Parsed, so a title in a comment does not count. */
function titlesIn(path: string): ReadonlySet<string> {
  const text = readFileSync(join(repositoryRoot, path), 'utf8');
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'test') {
      const [title] = node.arguments;
      if (title && ts.isStringLiteralLike(title)) found.add(title.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false));
  return found;
}
