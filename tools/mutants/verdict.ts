/** The part of jest's `--json` report that a verdict needs. */
export interface JestReport {
  testResults: {
    message: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
}

export interface Outcome {
  passed: number;
  failed: number;
  /** Why a suite failed without a failed test: it could not be parsed or loaded. */
  broken: string | undefined;
}

/** jest takes a regular expression for `-t`; ids hold dots, and the brackets around them are ours. */
export function titlePattern(id: string): string {
  return `[${id}]`.replace(/[.*+?^${}()|[\]\\-]/g, '\\$&');
}

export function readOutcome(report: JestReport, id: string): Outcome {
  let passed = 0;
  let failed = 0;
  let broken: string | undefined;
  for (const suite of report.testResults) {
    for (const test of suite.assertionResults) {
      if (!test.fullName.includes(`[${id}]`)) continue;
      if (test.status === 'passed') passed += 1;
      if (test.status === 'failed') failed += 1;
    }
    if (suite.assertionResults.length === 0 && suite.message) broken ??= firstLines(suite.message);
  }
  return { passed, failed, broken };
}

export type Verdict = { result: 'killed' | 'survived'; note: string } | { result: 'error'; note: string };

/** Before any mutant of an id counts, its tests must run and pass: a red or empty baseline would "kill" everything. */
export function baselineProblem(outcome: Outcome | 'timeout'): string | undefined {
  if (outcome === 'timeout') return 'the unchanged code did not finish in time';
  if (outcome.broken !== undefined) return `a test file does not load: ${outcome.broken}`;
  if (outcome.failed > 0) return `${outcome.failed} of its tests fail on the unchanged code`;
  if (outcome.passed === 0) return 'none of its tests ran on the unchanged code';
  return undefined;
}

export function judge(outcome: Outcome | 'timeout'): Verdict {
  // The baseline finished well within this limit, so a hang is the mutant's doing.
  if (outcome === 'timeout') return { result: 'killed', note: 'hung; stopped at the limit' };
  if (outcome.failed > 0) return { result: 'killed', note: `${outcome.failed} failed` };
  if (outcome.broken !== undefined)
    return { result: 'error', note: `the mutant does not load, so no test judged it: ${outcome.broken}` };
  if (outcome.passed === 0) return { result: 'error', note: 'no test ran' };
  return { result: 'survived', note: `${outcome.passed} passed` };
}

function firstLines(message: string): string {
  const plain = message.replace(/\u001b\[\d+m/g, '');
  return plain
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, 3)
    .join(' | ');
}
