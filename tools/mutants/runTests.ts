import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readOutcome, titlePattern, type JestReport, type Outcome } from './verdict.ts';

export interface TestRun {
  copy: string;
  id: string;
  files: readonly string[];
  limitMs: number;
  env: NodeJS.ProcessEnv;
}

/** Runs the tests of one id in a copy. The report file, not the exit code, tells a failed test from a broken suite. */
export async function runTests({ copy, id, files, limitMs, env }: TestRun): Promise<Outcome | 'timeout'> {
  const report = join(copy, '.mutant-report.json');
  await rm(report, { force: true });
  const child = spawn(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--no-warnings',
      'node_modules/jest/bin/jest.js',
      '--runInBand',
      '--json',
      `--outputFile=${report}`,
      '--testNamePattern',
      titlePattern(id),
      '--runTestsByPath',
      ...files,
    ],
    // Its own group, so that a hung run is stopped together with the processes its tests started.
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
    return readOutcome(JSON.parse(await readFile(report, 'utf8')) as JestReport, id);
  } catch {
    return {
      passed: 0,
      failed: 0,
      broken: `jest left no report: ${tail.trim().split('\n').slice(-3).join(' | ')}`,
    };
  }
}
