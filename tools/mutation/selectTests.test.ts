import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../sources.ts';
import { mutatedFiles } from './mutatedFiles.ts';
import { selectFiles, selectTests } from './selectTests.ts';

const source = (path: string, ...imports: string[]) => ({
  path,
  text: imports.map((name) => `import '${name}';`).join('\n'),
});

describe('tests of a mutated file', () => {
  it('are those in its folder and those that import it, the latter first and property tests last', () => {
    const tests = selectTests('packages/a/src/vault/judge.ts', [
      source('packages/a/src/vault/judge.ts'),
      source('packages/a/src/vault/aModel.test.ts', 'fast-check', './judge.ts'),
      source('packages/a/src/vault/b.test.ts', './other.ts'),
      source('packages/a/src/vault/judge.test.ts', './judge.ts'),
      source('packages/a/src/vault/deep/c.test.ts', './c.ts'),
      source('packages/a/src/other/d.test.ts', '../vault/judge.ts'),
    ]);
    expect(tests).toEqual([
      'packages/a/src/vault/judge.test.ts',
      'packages/a/src/other/d.test.ts',
      'packages/a/src/vault/b.test.ts',
      'packages/a/src/vault/aModel.test.ts',
    ]);
  });

  it('are never scenarios', () => {
    const scenario = source('test/scenarios/a.test.ts', '../../packages/a/src/judge.ts');
    expect(selectTests('packages/a/src/judge.ts', [scenario])).toEqual([]);
  });
});

describe('files to mutate', () => {
  const sources = [source('packages/a/src/b.ts'), source('packages/a/src/b.test.ts'), source('tools/c.ts')];

  it('are the sources of a folder without its tests', () => {
    expect(selectFiles(['./packages/a/', 'packages/a/src/b.ts'], sources)).toEqual(['packages/a/src/b.ts']);
  });

  it('must exist', () => {
    expect(() => selectFiles(['packages/x'], sources)).toThrow('packages/x');
  });

  it('are listed with their current paths', () => {
    expect(mutatedFiles.filter((file) => !existsSync(join(repositoryRoot, file)))).toEqual([]);
  });
});
