import { describe, expect, test } from '@jest/globals';
import { checkMutants, loadMutants, MAX_MUTANTS, type Mutant } from '../tools/mutants/mutant.ts';
import { repositoryRoot } from '../tools/sources.ts';

const valid: Mutant = {
  id: 'no-limit',
  file: 'tools/mutants/mutant.ts',
  find: 'export interface Mutant {',
  replace: 'x',
  test: 'test/mutants.test.ts',
};

const problemsOf = (...mutants: Partial<Mutant>[]): string[] =>
  checkMutants(
    mutants.map((mutant) => ({ ...valid, ...mutant })),
    repositoryRoot,
  );

describe('handwritten mutants', () => {
  test(`each of at most ${MAX_MUTANTS} mutants changes one place and names an existing test`, async () => {
    const lists = await loadMutants(repositoryRoot);
    expect(lists.size).toBeGreaterThan(5);
    expect(checkMutants([...lists.values()].flat(), repositoryRoot)).toEqual([]);
  });

  test('the check reports each kind of mistake', () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ title: 'the check reports each kind of mistake' })).toEqual([]);
    expect(problemsOf({}, {})).toEqual(['no-limit: the id is used twice']);
    expect(problemsOf({ file: 'test/none.ts' })).toEqual(['no-limit: test/none.ts does not exist']);
    expect(problemsOf({ test: 'test/none.ts' })).toEqual(['no-limit: test/none.ts does not exist']);
    expect(problemsOf({ find: 'export interface' + ' Missing' })).toEqual([
      `no-limit: "export interface Missing" occurs 0 times in ${valid.file}`,
    ]);
    expect(problemsOf({ replace: valid.find })).toEqual(['no-limit: replace equals find']);
    const missing = ['a title', 'of no test'].join(' ');
    expect(problemsOf({ title: missing })).toEqual([`no-limit: no test has the title "${missing}"`]);
    const many = Array.from({ length: MAX_MUTANTS + 1 }, (_, index) => ({ id: String(index) }));
    expect(problemsOf(...many)).toEqual([`${MAX_MUTANTS + 1} mutants, more than ${MAX_MUTANTS}`]);
  });
});
