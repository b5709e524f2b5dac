import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface TestRun {
  copy: string;
  test: string;
  title: string | undefined;
  limitMs: number;
  env: NodeJS.ProcessEnv;
}

export interface Outcome {
  passed: number;
  failed: number;
  /** Why the test file did not run: a test file that does not load has no failed test. */
  broken?: string;
}

/** The part of jest's JSON report that is read here. */
export interface JestReport {
  testResults: { message: string; assertionResults: { status: string }[] }[];
}

export interface MutantResult {
  status: 'killed' | 'survived' | 'error';
  note: string;
}

/** Runs a test file in a copy of the repository. The report tells a failed test from a test file that does not load. */
export async function runTests({ copy, test, title, limitMs, env }: TestRun): Promise<Outcome | 'timeout'> {
  const report = join(copy, '.mutant-report.json');
  await rm(report, { force: true });
  const args = ['--runInBand', '--json', `--outputFile=${report}`, '--runTestsByPath', test];
  if (title !== undefined) args.push('--testNamePattern', titlePattern(title));
  const child = spawn(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...args],
    // A process group of its own, to stop a run together with the processes that its tests started.
    { cwd: copy, env, stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  let tail = '';
  child.stderr.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString()).slice(-2_000)));
  const stop = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', stop);
  const limit = AbortSignal.timeout(Math.ceil(limitMs));
  limit.addEventListener('abort', stop);
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject).once('exit', () => resolve());
  }).finally(() => {
    limit.removeEventListener('abort', stop);
    process.removeListener('exit', stop);
  });
  if (limit.aborted) return 'timeout';
  try {
    return readOutcome(JSON.parse(await readFile(report, 'utf8')) as JestReport);
  } catch {
    return { passed: 0, failed: 0, broken: `jest wrote no report: ${firstLines(tail)}` };
  }
}

export function readOutcome(report: JestReport): Outcome {
  const statuses = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ status }) => status),
  );
  const broken = report.testResults.find(({ assertionResults }) => assertionResults.length === 0);
  return {
    passed: statuses.filter((status) => status === 'passed').length,
    failed: statuses.filter((status) => status === 'failed').length,
    ...(broken && { broken: firstLines(broken.message) }),
  };
}

/** Without a mutant the tests must run and pass. Otherwise every mutant would seem to be killed. */
export function baselineProblem(outcome: Outcome | 'timeout'): string | undefined {
  if (outcome === 'timeout') return 'the unchanged code did not finish in time';
  if (outcome.broken !== undefined) return `the test file does not load: ${outcome.broken}`;
  if (outcome.failed > 0) return `${outcome.failed} tests fail on the unchanged code`;
  return outcome.passed === 0 ? 'no test ran on the unchanged code' : undefined;
}

export function evaluate(outcome: Outcome | 'timeout'): MutantResult {
  // The limit is a multiple of the time that the unchanged code needs, so the mutant caused the hang.
  if (outcome === 'timeout') return { status: 'killed', note: 'stopped at the time limit' };
  if (outcome.failed > 0) return { status: 'killed', note: `${outcome.failed} failed` };
  if (outcome.broken !== undefined) return { status: 'error', note: `does not load: ${outcome.broken}` };
  if (outcome.passed === 0) return { status: 'error', note: 'no test ran' };
  return { status: 'survived', note: `${outcome.passed} passed` };
}

/** jest takes a regular expression. */
export function titlePattern(title: string): string {
  return title.replace(/[.*+?^${}()|[\]\\-]/g, '\\$&');
}

function firstLines(message: string): string {
  const lines = message.replace(/\u001b\[\d+m/g, '').split('\n');
  return lines
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, 3)
    .join(' | ');
}
