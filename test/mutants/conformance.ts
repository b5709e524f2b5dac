import type { Mutant } from '../mutants.ts';

export const conformance: readonly Mutant[] = [
  {
    id: 'conformance.score.due',
    file: 'test/conformance/score.ts',
    find: 'isScored: false, isDue: extensions.has(name)',
    replace: 'isScored: false, isDue: false',
  },
  {
    id: 'conformance.score.strict',
    file: 'test/conformance/score.ts',
    find: "status === 'FAILURE' || status === 'WARNING'",
    replace: "status === 'FAILURE'",
  },
  {
    id: 'conformance.score.strict',
    file: 'test/conformance/score.ts',
    find: "if (end === null) return ['It did not end'];",
    replace: 'if (end === null) return [];',
  },
  {
    id: 'conformance.score.strict',
    file: 'test/conformance/score.ts',
    find: '(end.refused !== null) === refusals.has(name)',
    replace: 'end.refused !== null || !refusals.has(name)',
  },
];
