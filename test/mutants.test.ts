import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { checkMutants } from '../tools/mutants/check.ts';
import { repositoryRoot } from '../tools/sources.ts';
import { mutants, type Mutant } from './mutants.ts';
import { requirements } from './requirements.ts';

const done = new Set(Object.keys(requirements).filter((id) => requirements[id]?.[0] === 'done'));

describe('mutants', () => {
  it('change exactly one place each, for a promise that is kept', () => {
    expect(checkMutants(mutants, done, repositoryRoot)).toEqual([]);
  });

  it('are collected from every area', async () => {
    const areas: Mutant[] = [];
    for (const name of readdirSync(new URL('./mutants/', import.meta.url))) {
      const area = (await import(`./mutants/${name}`)) as Record<string, readonly Mutant[]>;
      for (const list of Object.values(area)) areas.push(...list);
    }
    expect(mutants).toHaveLength(areas.length);
    expect(new Set(mutants)).toEqual(new Set(areas));
  });

  it('reports each kind of mistake', () => {
    const file = 'test/mutants.ts';
    const known = new Set(['a.b.c']);
    const problems = (mutant: Partial<Mutant>): string[] =>
      checkMutants(
        [{ id: 'a.b.c', file, find: 'export interface Mutant {', replace: 'x', ...mutant }],
        known,
        repositoryRoot,
      );
    expect(problems({})).toEqual([]);
    expect(problems({ id: 'a.b.d' })).toEqual(['a.b.d: not a requirement that is marked done']);
    expect(problems({ file: 'test/none.ts' })).toEqual(['a.b.c: test/none.ts does not exist']);
    expect(problems({ find: 'string;' })).toEqual([`a.b.c: "string;" occurs 4 times in ${file}, not once`]);
    expect(problems({ replace: 'export interface Mutant {' })).toEqual(['a.b.c: replace equals find']);
  });
});
