import { describe, expect, test } from '@jest/globals';
import { changedFiles, dueMutants, findBase, type Git } from './changed.ts';
import type { Mutant } from './mutant.ts';

/** git as a table from arguments to answers. Any other command fails. */
function fakeGit(answers: Record<string, string>): Git {
  return (...args) => answers[args.join(' ')];
}

const mutant: Mutant = {
  id: 'no-limit',
  file: 'api/src/a.ts',
  find: 'x',
  replace: 'y',
  test: 'api/src/a.test.ts',
};

describe('changed mutants', () => {
  test('a branch is compared with the commit at which it left main', () => {
    const git = fakeGit({ 'rev-parse HEAD': 'h\n', 'merge-base HEAD origin/main': 'b\n' });
    expect(findBase(git)).toBe('b');
    expect(findBase(fakeGit({ 'rev-parse HEAD': 'h\n', 'merge-base HEAD main': 'c\n' }))).toBe('c');
  });

  test('main is compared with the newest earlier tag, otherwise with the day before, otherwise with nothing', () => {
    const onMain = {
      'rev-parse HEAD': 'h\n',
      'merge-base HEAD origin/main': 'h\n',
      'merge-base HEAD main': 'h\n',
    };
    expect(findBase(fakeGit({ ...onMain, 'describe --tags --abbrev=0 HEAD~1': 'v1.0.0\n' }))).toBe('v1.0.0');
    expect(findBase(fakeGit(onMain))).toBeUndefined();
    const dated = { ...onMain, 'show --no-patch --format=%ct HEAD': '100000\n' };
    const before = 'rev-list -1 --before=71200 HEAD';
    expect(findBase(fakeGit({ ...dated, [before]: 'yesterday\n' }))).toBe('yesterday');
    expect(findBase(fakeGit({ ...dated, [before]: '' }))).toBeUndefined();
  });

  test('uncommitted and untracked files count as changed, and an unknown base is an error', () => {
    const git = fakeGit({
      'diff --name-only -z b': 'one.ts\0two.ts\0',
      'ls-files --others --exclude-standard -z': 'new.ts\0',
    });
    expect(changedFiles(git, 'b')).toEqual(new Set(['one.ts', 'two.ts', 'new.ts']));
    expect(() => changedFiles(git, 'nowhere')).toThrow(/--base/);
  });

  test('a mutant is due if its code, its test or its definition changed', () => {
    const lists = new Map([['test/mutants/a.ts', [mutant]]]);
    expect(dueMutants(lists, new Set(['api/src/b.ts']))).toEqual([]);
    for (const path of ['api/src/a.ts', 'api/src/a.test.ts', 'test/mutants/a.ts']) {
      expect(dueMutants(lists, new Set([path]))).toEqual([mutant]);
    }
  });
});
