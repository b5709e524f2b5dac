import type { Mutant } from '../mutants.ts';

export const conformance: readonly Mutant[] = [
  {
    id: 'conformance.score.due',
    file: 'test/conformance/score.ts',
    find: 'isScored: false, isDue: extensions.has(name)',
    replace: 'isScored: false, isDue: false',
  },
  {
    id: 'conformance.score.due',
    file: 'test/conformance/score.ts',
    find: '...client.map((name) => ({ name, isScored: true, isDue: true })),',
    replace: "...client.map((name) => ({ name, isScored: true, isDue: name.startsWith('auth/') })),",
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
  {
    id: 'conformance.score.server',
    file: 'test/conformance/score.ts',
    find: "checks.length === 0 ? ['It did not run'] : wrongChecks(checks)",
    replace: 'wrongChecks(checks)',
  },
  {
    id: 'conformance.score.excuse',
    file: 'test/conformance/score.ts',
    find: 'isDue && wrong.length > 0 && failing.has(name)',
    replace: 'isDue && wrong.length > 0',
  },
  {
    id: 'conformance.score.excuse',
    file: 'test/conformance/score.ts',
    find: 'if (through.filter(isExcused).length > MOST_EXCUSES) return [...through];',
    replace: '',
  },
];
