import { describe, expect, test } from '@jest/globals';
import { baselineProblem, judge, readOutcome, titlePattern, type JestReport } from './verdict.ts';

const id = 'lease.one.holder';

function suite(...tests: [fullName: string, status: string][]): JestReport['testResults'][number] {
  return { message: '', assertionResults: tests.map(([fullName, status]) => ({ fullName, status })) };
}

const unloadable = {
  message: '\u001b[1m● Test suite failed to run\u001b[22m\n\n  Unexpected token',
  assertionResults: [],
};

describe('mutant verdicts', () => {
  test('matches the title of one id and of no longer or similar one', () => {
    const pattern = new RegExp(titlePattern(id), 'i');
    expect(pattern.test(`leases [${id}] two processes`)).toBe(true);
    expect(pattern.test('leases [lease.one.holder-again] x')).toBe(false);
    expect(pattern.test('leases [leaseXoneXholder] x')).toBe(false);
  });

  test('counts only the tests of the id', () => {
    const report = {
      testResults: [
        suite([`a [${id}] x`, 'passed'], ['a [other.id.x] y', 'failed'], [`b [${id}]`, 'pending']),
      ],
    };
    expect(readOutcome(report, id)).toEqual({ passed: 1, failed: 0, broken: undefined });
  });

  test('needs a green baseline with at least one test', () => {
    expect(baselineProblem({ passed: 1, failed: 0, broken: undefined })).toBeUndefined();
    expect(baselineProblem({ passed: 0, failed: 0, broken: undefined })).toMatch(/none of its tests ran/);
    expect(baselineProblem({ passed: 3, failed: 1, broken: undefined })).toMatch(/1 of its tests fail/);
    expect(baselineProblem(readOutcome({ testResults: [unloadable] }, id))).toMatch(
      /does not load.*Unexpected token/,
    );
    expect(baselineProblem('timeout')).toMatch(/in time/);
  });

  test('is killed by a failed test or a hang, never by code that does not load', () => {
    expect(judge({ passed: 2, failed: 1, broken: undefined }).result).toBe('killed');
    expect(judge('timeout').result).toBe('killed');
    expect(judge({ passed: 2, failed: 0, broken: undefined }).result).toBe('survived');
    expect(judge(readOutcome({ testResults: [unloadable] }, id)).result).toBe('error');
    expect(judge({ passed: 0, failed: 0, broken: undefined }).result).toBe('error');
  });
});
