import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { findPromises, type Promised } from '../tools/promises.ts';
import { readSources } from '../tools/sources.ts';
import { requirements, type Requirement } from './requirements.ts';

const wellFormed = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*){1,3}$/;

describe('requirements', () => {
  it('has a test for every promise marked done, and a promise for every test', () => {
    const promised = findPromises(readSources());
    expect(disagreements(requirements, promised)).toEqual([]);
  });

  it('collects every area, and no id stands in two of them', async () => {
    const areas: string[] = [];
    for (const name of readdirSync(new URL('./requirements/', import.meta.url))) {
      const area = (await import(`./requirements/${name}`)) as Record<string, Record<string, Requirement>>;
      for (const list of Object.values(area)) areas.push(...Object.keys(list));
    }
    expect(areas.sort()).toEqual(Object.keys(requirements).sort());
  });

  it('reports each kind of disagreement', () => {
    const at = (id: string | undefined): Promised => ({ id, path: 'a.test.ts', line: 3 });
    const table: Record<string, Requirement> = {
      'lease.one.holder': ['done', 'Two processes never both hold a lease.'],
      'lease.killed.taken-over': ['planned', 'A lease of a killed process is taken over.'],
      'Lease.Bad': ['planned', 'no sentence'],
      'lease.other.way': ['done', 'Somebody else keeps it.', ['lease.unknown.other']],
    };
    const found = disagreements(table, [
      at('lease.killed.taken-over'),
      at('lease.unknown.id'),
      at(undefined),
    ]);
    expect(found).toEqual([
      'lease.one.holder is marked done and no test verifies it',
      'Lease.Bad is not of the form area.thing.behaviour (lower case, hyphens inside a word)',
      'Lease.Bad: the promise is not a sentence',
      'lease.other.way is said to be kept by lease.unknown.other, which no test verifies',
      'a.test.ts:3 verifies lease.killed.taken-over, which is marked planned: mark it done',
      'a.test.ts:3 verifies lease.unknown.id, which no file of test/requirements lists',
      'a.test.ts:3 calls verifies with something other than a plain string id',
    ]);
  });

  it('reads calls, not text that looks like one', () => {
    const text = "const s = \"verifies('a.b.c')\"; // verifies('d.e.f')\nverifies('g.h.i', 'x', () => 1);";
    expect(findPromises([{ path: 'x/y.test.ts', text }])).toEqual([
      { id: 'g.h.i', path: 'x/y.test.ts', line: 2 },
    ]);
    expect(findPromises([{ path: 'x/y.ts', text }])).toEqual([]);
    expect(findPromises([{ path: 'packages/testkit/src/suites/y.ts', text }])).toHaveLength(1);
  });
});

function disagreements(
  table: Readonly<Record<string, Requirement>>,
  promised: readonly Promised[],
): string[] {
  const problems: string[] = [];
  const verified = new Set(promised.map(({ id }) => id));
  for (const [id, [status, promise, by = []]] of Object.entries(table)) {
    if (status === 'done' && !verified.has(id) && by.length === 0) {
      problems.push(`${id} is marked done and no test verifies it`);
    }
    for (const other of by) {
      if (!verified.has(other)) problems.push(`${id} is said to be kept by ${other}, which no test verifies`);
    }
    if (!wellFormed.test(id))
      problems.push(`${id} is not of the form area.thing.behaviour (lower case, hyphens inside a word)`);
    if (!/^\S.*[.]$/.test(promise)) problems.push(`${id}: the promise is not a sentence`);
  }
  const seen = new Set<string>();
  for (const { id, path, line } of promised) {
    // One line per id is enough to act on.
    if (id !== undefined && seen.has(id)) continue;
    if (id !== undefined) seen.add(id);
    const where = `${path}:${line}`;
    if (id === undefined)
      problems.push(`${where} calls verifies with something other than a plain string id`);
    else if (table[id] === undefined)
      problems.push(`${where} verifies ${id}, which no file of test/requirements lists`);
    else if (table[id][0] === 'planned')
      problems.push(`${where} verifies ${id}, which is marked planned: mark it done`);
  }
  return problems;
}
