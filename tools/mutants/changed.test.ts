import { describe, expect, test } from '@jest/globals';
import type { Mutant } from '../../test/mutants.ts';
import { changedFiles, dueMutants, findBase, mutantsAt, type Git } from './changed.ts';

/** git as a table from arguments to answers; anything else is refused, as git does with an unknown commit. */
function fakeGit(answers: Record<string, string>): Git {
  return (...args) => answers[args.join(' ')];
}

const mutant: Mutant = { id: 'a.b.c', file: 'api/src/a.ts', find: 'x', replace: 'y' };

describe('changed mutants', () => {
  test('are measured from where a branch left main', () => {
    const git = fakeGit({ 'rev-parse HEAD': 'h\n', 'merge-base HEAD origin/main': 'b\n' });
    expect(findBase(git)).toBe('b');
    expect(findBase(fakeGit({ 'rev-parse HEAD': 'h\n', 'merge-base HEAD main': 'c\n' }))).toBe('c');
  });

  test('are measured from the newest earlier tag on main itself, else from the day before, else all run', () => {
    const onMain = {
      'rev-parse HEAD': 'h\n',
      'merge-base HEAD origin/main': 'h\n',
      'merge-base HEAD main': 'h\n',
    };
    expect(findBase(fakeGit({ ...onMain, 'describe --tags --abbrev=0 HEAD~1': 'v1.0.0\n' }))).toBe('v1.0.0');
    expect(findBase(fakeGit(onMain))).toBeUndefined();
    const dated = { ...onMain, 'show --no-patch --format=%ct HEAD': '100000\n' };
    expect(findBase(fakeGit({ ...dated, 'rev-list -1 --before=71200 HEAD': 'yesterday\n' }))).toBe(
      'yesterday',
    );
    expect(findBase(fakeGit({ ...dated, 'rev-list -1 --before=71200 HEAD': '' }))).toBeUndefined();
  });

  test('include uncommitted and new files, and refuse a base git does not have', () => {
    const git = fakeGit({
      'diff --name-only -z b': 'one.ts\0two.ts\0',
      'ls-files --others --exclude-standard -z': 'new.ts\0',
    });
    expect(changedFiles(git, 'b')).toEqual(new Set(['one.ts', 'two.ts', 'new.ts']));
    expect(() => changedFiles(git, 'nowhere')).toThrow(/--base/);
  });

  test('are due when the code, one of the tests or the mutant changed', () => {
    const tests = new Map([['a.b.c', ['api/src/a.test.ts']]]);
    const due = (changed: string[], before: Mutant[]) =>
      dueMutants([mutant], new Set(changed), tests, before);
    expect(due([], [mutant])).toEqual([]);
    expect(due(['api/src/a.ts'], [mutant])).toEqual([mutant]);
    expect(due(['api/src/a.test.ts'], [mutant])).toEqual([mutant]);
    expect(due([], [{ ...mutant, replace: 'z' }])).toEqual([mutant]);
  });

  test('reads the list of an earlier commit, and takes an unreadable one for empty', async () => {
    const git = fakeGit({
      'ls-tree --name-only b test/mutants/': 'test/mutants/a.ts\ntest/mutants/b.ts\n',
      'show b:test/mutants/a.ts': `import type { Mutant } from '../mutants.ts';\nexport const a: readonly Mutant[] = [${JSON.stringify(mutant)}];`,
      'show b:test/mutants/b.ts': "import { gone } from './gone.ts'; export const b = [gone];",
    });
    expect(await mutantsAt(git, 'b')).toEqual([mutant]);
  });
});
