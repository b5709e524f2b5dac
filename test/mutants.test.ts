import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { checkMutants } from '../tools/mutants/check.ts';
import { repositoryRoot } from '../tools/sources.ts';
import { mutants, type Mutant } from './mutants.ts';

describe('mutants', () => {
  test('change exactly one place each', () => {
    expect(checkMutants(mutants, repositoryRoot)).toEqual([]);
  });

  test('are collected from every area', async () => {
    const areas: Mutant[] = [];
    for (const name of readdirSync(new URL('./mutants/', import.meta.url))) {
      const area = (await import(`./mutants/${name}`)) as Record<string, readonly Mutant[]>;
      for (const list of Object.values(area)) areas.push(...list);
    }
    expect(mutants).toHaveLength(areas.length);
    expect(new Set(mutants)).toEqual(new Set(areas));
  });

  test('reports each kind of mistake', () => {
    const file = 'test/mutants.ts';
    const problems = (mutant: Partial<Mutant>): string[] =>
      checkMutants(
        [{ id: 'a.b.c', file, find: 'export interface Mutant {', replace: 'x', ...mutant }],
        repositoryRoot,
      );
    expect(problems({})).toEqual([]);
    expect(problems({ file: 'test/none.ts' })).toEqual(['a.b.c: test/none.ts does not exist']);
    expect(problems({ find: 'string;' })).toEqual([`a.b.c: "string;" occurs 4 times in ${file}, not once`]);
    expect(problems({ replace: 'export interface Mutant {' })).toEqual(['a.b.c: replace equals find']);
  });
});
