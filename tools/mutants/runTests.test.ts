import { describe, expect, test } from '@jest/globals';
import { baselineProblem, evaluate, readOutcome, titlePattern } from './runTests.ts';

const unloadable = {
  message: '\u001b[1m● Test suite failed to run\u001b[22m\n\n  Unexpected token',
  assertionResults: [],
};

describe('mutant results', () => {
  test('a title is matched literally', () => {
    const pattern = new RegExp(titlePattern('one (of two) holders'), 'i');
    expect(pattern.test('leases one (of two) holders')).toBe(true);
    expect(pattern.test('leases one of two holders')).toBe(false);
  });

  test('a report counts passed and failed tests, not skipped ones', () => {
    const assertionResults = ['passed', 'passed', 'failed', 'pending'].map((status) => ({ status }));
    expect(readOutcome({ testResults: [{ message: '', assertionResults }] })).toEqual({
      passed: 2,
      failed: 1,
    });
  });

  test('the unchanged code must pass at least one test', () => {
    expect(baselineProblem({ passed: 1, failed: 0 })).toBeUndefined();
    expect(baselineProblem({ passed: 0, failed: 0 })).toMatch(/no test ran/);
    expect(baselineProblem({ passed: 3, failed: 1 })).toMatch(/1 tests fail/);
    expect(baselineProblem(readOutcome({ testResults: [unloadable] }))).toMatch(/not load.*Unexpected token/);
    expect(baselineProblem('timeout')).toMatch(/in time/);
  });

  test('a failed test or a hang kills a mutant, and code that does not load is an error', () => {
    expect(evaluate({ passed: 2, failed: 1 }).status).toBe('killed');
    expect(evaluate('timeout').status).toBe('killed');
    expect(evaluate({ passed: 2, failed: 0 }).status).toBe('survived');
    expect(evaluate(readOutcome({ testResults: [unloadable] })).status).toBe('error');
    expect(evaluate({ passed: 0, failed: 0 }).status).toBe('error');
  });
});
