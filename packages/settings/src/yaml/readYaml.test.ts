import { describe, expect, jest, test } from '@jest/globals';
import { Composer, Parser } from 'yaml';
import { readYaml } from './readYaml.ts';

function refusal(text: string): { code: string; line: number | undefined; path: string } {
  const result = readYaml(text);
  if (result.ok) throw new Error('was accepted');
  const [first] = result.diagnostics;
  return { code: first!.code, line: first!.line, path: first!.path };
}

/** Each level holds nine references to the one before: nine to the ninth values from ten lines. */
function bomb(levels: number, width: number): string {
  const lines = [`a0: &a0 [${Array.from({ length: width }, () => 'x').join(', ')}]`];
  for (let level = 1; level <= levels; level += 1) {
    lines.push(`a${level}: &a${level} [${Array.from({ length: width }, () => `*a${level - 1}`).join(', ')}]`);
  }
  return lines.join('\n');
}

describe('YAML that must not be believed', () => {
  test('aliases that multiply are refused at once', () => {
    expect(refusal(bomb(9, 9)).code).toBe('yaml_aliases');
  });

  test('many aliases are refused even when each is small', () => {
    const text = `a: &a x\nb: [${Array.from({ length: 101 }, () => '*a').join(', ')}]`;
    expect(refusal(text).code).toBe('yaml_aliases');
  });

  test('few aliases of something large are refused by what they add up to', () => {
    const text = `a: &a [${'x,'.repeat(3000)}]\nb: [${Array.from({ length: 50 }, () => '*a').join(', ')}]`;
    expect(refusal(text).code).toBe('yaml_too_large');
  });

  test('a few aliases are welcome', () => {
    expect(readYaml('a: &a {b: c}\nd: *a\ne: *a')).toMatchObject({
      ok: true,
      value: { a: { b: 'c' }, d: { b: 'c' }, e: { b: 'c' } },
    });
  });

  test('a value that contains itself', () => {
    expect(refusal('a: &a\n  b: *a')).toEqual({ code: 'yaml_alias', line: 2, path: 'a.b' });
  });

  test('a file of 10 MB, by size alone', () => {
    expect(refusal(`a: ${'x'.repeat(10_000_000)}`)).toEqual({ code: 'yaml_too_large', line: 1, path: '' });
    expect(refusal('a: b\n'.repeat(900_000)).code).toBe('yaml_too_large');
    expect(refusal(`a: ${'x'.repeat(1024 * 1024)}`).code).toBe('yaml_too_large');
  });

  test('a file of a great many values', () => {
    expect(refusal(`a: [${'x,'.repeat(100_001)}]`).code).toBe('yaml_too_large');
  });

  test('of a great many tiny things few are read and none is built', () => {
    // Each took seconds and a gigabyte when it was built before it was counted.
    const lexemes = jest.spyOn(Parser.prototype, 'next');
    const building = jest.spyOn(Composer.prototype, 'compose');
    const mebibyte = (unit: string) => unit.repeat(Math.floor((1024 * 1024 - 64) / unit.length));
    const cost = (text: string) => {
      lexemes.mockClear();
      building.mockClear();
      const result = readYaml(text);
      const code = result.ok ? 'fits' : result.diagnostics[0]!.code;
      return { code, read: lexemes.mock.calls.length, built: building.mock.calls.length };
    };
    try {
      for (const unit of ['#\n', '---\n', '- 1\n', '\n', '\t\n', '- |\n', 'a:\n']) {
        for (const before of ['', 'a: [', 'a: |\n  ']) {
          expect(cost(before + mebibyte(unit))).toEqual({ code: 'yaml_too_large', read: 0, built: 0 });
        }
      }
      for (const unit of ['a,', ']', '? ', '&a ', '"" ', '{},']) {
        const { code, read, built } = cost(`a: [${mebibyte(unit)}`);
        expect({ unit, code, built }).toEqual({ unit, code: 'yaml_too_large', built: 0 });
        expect(read).toBeLessThanOrEqual(50_000);
        // The same as one text is one thing.
        expect(cost(`a: |\n  ${mebibyte(unit)}`)).toMatchObject({ code: 'fits', built: 1 });
      }
    } finally {
      jest.restoreAllMocks();
    }
  });

  test('limits are counted before anything is built, and honest files fit', () => {
    expect(refusal('# comment\n'.repeat(20_001))).toEqual({ code: 'yaml_too_large', line: 1, path: '' });
    expect(refusal('['.repeat(50_001)).code).toBe('yaml_too_large');
    expect(readYaml(`a: |\n${'  text\n'.repeat(19_000)}`).ok).toBe(true);
    expect(readYaml(`a: "${'x'.repeat(1_000_000)}"`).ok).toBe(true);
    const servers = Array.from(
      { length: 1000 },
      (_, i) => `  s${i}:\n    type: http\n    url: https://s.example\n`,
    );
    expect(readYaml(`mcpServers:\n${servers.join('')}`).ok).toBe(true);
  });

  test('a key so long that the paths below it would add up', () => {
    expect(refusal(`? ${'k'.repeat(1025)}\n: [${'x,'.repeat(10_000)}]`)).toEqual({
      code: 'yaml_key',
      line: 1,
      path: '',
    });
    expect(readYaml(`${'k'.repeat(1000)}: x`).ok).toBe(true);
  });

  test('nesting that would exhaust the stack, in either style', () => {
    expect(refusal('['.repeat(40_000)).code).toBe('yaml_too_deep');
    expect(refusal('{a: '.repeat(8000)).code).toBe('yaml_too_deep');
    expect(refusal('- '.repeat(20_000) + 'x').code).toBe('yaml_too_deep');
    expect(refusal(`a: ${'['.repeat(70)}${']'.repeat(70)}`).code).toBe('yaml_too_deep');
  });

  test('a key given twice, with the line of the second', () => {
    expect(refusal('mcpServers:\n  a:\n    command: x\n    command: y\n')).toEqual({
      code: 'yaml_duplicate_key',
      line: 4,
      path: 'mcpServers.a.command',
    });
    expect(refusal('a: 1\n"a": 2')).toEqual({ code: 'yaml_duplicate_key', line: 2, path: 'a' });
  });

  for (const key of ['__proto__', 'constructor', 'prototype']) {
    test(`${key} is not a key, wherever it stands`, () => {
      expect(refusal(`mcpServers:\n  "${key}": {polluted: yes}`)).toEqual({
        code: 'yaml_key',
        line: 2,
        path: `mcpServers.${key}`,
      });
      expect(refusal(`a: [{${key}: {polluted: 1}}]`).code).toBe('yaml_key');
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    });
  }

  test('merge keys, tags, several documents, tabs, odd keys and no mapping are told with their line', () => {
    expect(refusal('a: &a {b: c}\nd:\n  <<: *a')).toEqual({
      code: 'yaml_merge_key',
      line: 3,
      path: 'd["<<"]',
    });
    expect(refusal('a: b\nc: !!js/function "x"').line).toBe(2);
    expect(refusal('a: b\n---\nc: d')).toMatchObject({ code: 'yaml_documents' });
    expect(refusal('a:\n\tb: c')).toEqual({ code: 'yaml_syntax', line: 2, path: '' });
    expect(refusal('a: "b\nc: d')).toMatchObject({ code: 'yaml_syntax' });
    expect(refusal('? [a]\n: b')).toMatchObject({ code: 'yaml_key', line: 1 });
    expect(refusal('a: .inf')).toMatchObject({ code: 'yaml_value', line: 1 });
    expect(refusal('')).toMatchObject({ code: 'yaml_empty' });
    expect(refusal('# nothing\n')).toMatchObject({ code: 'yaml_empty' });
  });
});
