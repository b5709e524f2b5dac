// `npm run mutants [-- PATH...] [-- --concurrency N] [-- --minutes N] [-- --force]`: mutation tests with Stryker. Prints how many
// mutants of each file the unit tests kill. PATH names files or folders; without one, the files of mutatedFiles.ts.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyRepository } from '../mutants/workspace.ts';
import { readSources, repositoryRoot as root } from '../sources.ts';
import { mutatedFiles } from './mutatedFiles.ts';
import { formatScore, readScore, type Score } from './report.ts';
import { selectFiles, selectTests } from './selectTests.ts';

/** Results of earlier runs. Stryker repeats a mutant only if its file or its tests changed; `--force` repeats all. */
const reports = join(root, 'reports/mutation');

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    concurrency: { type: 'string' },
    minutes: { type: 'string' },
    force: { type: 'boolean' },
  },
});
const lastStart = performance.now() + Number(options.minutes ?? Infinity) * 60_000;
const sources = readSources(root);
/** Ends the run that is in progress. */
let stopStryker = (): void => undefined;

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});

async function main(): Promise<number> {
  const files = selectFiles(positionals.length > 0 ? positionals : mutatedFiles, sources);
  // Stryker links node_modules into its sandbox, and the links of our own packages would lead back to the sources that are not
  // mutated. So Stryker mutates in place, in a copy whose links lead into the copy.
  const copy = mkdtempSync(join(tmpdir(), 'behalf-mutation-'));
  process.once('exit', () => {
    stopStryker();
    rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  await copyRepository(root, trackedFiles(), copy);

  const scores: Score[] = [];
  const failed: string[] = [];
  const untested: string[] = [];
  let skipped = 0;
  for (const file of files) {
    if (performance.now() >= lastStart) {
      skipped += 1;
      continue;
    }
    const tests = selectTests(file, sources);
    if (tests.length === 0) {
      untested.push(file);
      continue;
    }
    const startedAt = performance.now();
    const report = join(reports, `${file}.json`);
    const isOk = await runStryker(copy, file, tests, report);
    // Stryker restores the file itself, unless it was interrupted.
    copyFileSync(join(root, file), join(copy, file));
    if (!isOk || !existsSync(report)) {
      failed.push(file);
      process.stdout.write(`${file}  Stryker failed\n`);
      continue;
    }
    const score = readScore(report, file);
    scores.push(score);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stdout.write(`${file}  ${formatScore(score)}, ${seconds} s\n`);
    for (const survivor of score.survivors) process.stdout.write(`    ${survivor}\n`);
  }
  printSummary(scores);
  if (untested.length > 0) process.stdout.write(`No unit test found for:\n  ${untested.join('\n  ')}\n`);
  if (failed.length > 0) process.stdout.write(`Failed:\n  ${failed.join('\n  ')}\n`);
  if (skipped > 0) process.stdout.write(`${skipped} files not started within ${options.minutes} minutes\n`);
  return failed.length === 0 ? 0 : 1;
}

function printSummary(scores: readonly Score[]): void {
  const killed = scores.reduce((sum, score) => sum + score.killed, 0);
  const all = scores.reduce((sum, score) => sum + score.all, 0);
  process.stdout.write('\n');
  for (const score of scores) process.stdout.write(`${score.file}  ${formatScore(score)}\n`);
  process.stdout.write(`Total: ${formatScore({ file: '', killed, all, survivors: [] })}\n`);
}

function trackedFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
}

async function runStryker(copy: string, file: string, tests: string[], report: string): Promise<boolean> {
  const config = join(copy, '.stryker.config.json');
  const testFiles = combineTests(copy, tests);
  mkdirSync(dirname(report), { recursive: true });
  const isForced = options.force === true || !isUpToDate(tests, report);
  writeFileSync(config, JSON.stringify(strykerOptions(copy, file, testFiles, report, isForced), null, 2));
  const program = join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  // A process group of its own: Stryker's workers and their children end with it.
  const child = spawn(process.execPath, [program, 'run', config], {
    cwd: copy,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  stopStryker = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('exit', resolve);
  });
  if (code === 0) writeFileSync(`${report}.tests`, hashTests(tests));
  return code === 0;
}

/**
 * One test file that imports the others, because loading the modules under test takes longer than most tests and jest loads them once
 * per test file. Files with set-up hooks of their own stay separate: in one file, the hooks would apply to the tests of all.
 */
function combineTests(copy: string, tests: readonly string[]): string[] {
  const isSeparate = (test: string): boolean =>
    /^(?:beforeEach|beforeAll|afterAll)\(/m.test(readFileSync(join(copy, test), 'utf8'));
  const combined = join(copy, '.mutation/combined.test.ts');
  const lines = tests.filter((test) => !isSeparate(test)).map((test) => `import '../${test}';\n`);
  const separate = tests.filter(isSeparate).map((test) => join(copy, test));
  if (lines.length === 0) return separate;
  mkdirSync(dirname(combined), { recursive: true });
  writeFileSync(combined, lines.join(''));
  return [combined, ...separate];
}

/** The tests and all rigs they may use. Stryker itself notices only changes of the mutated file. */
function hashTests(tests: readonly string[]): string {
  const rigs = sources
    .map(({ path }) => path)
    .filter((path) => /^packages\/(?:[^/]+\/test|testkit)\//.test(path));
  const hash = createHash('sha256');
  for (const path of [...tests, ...rigs]) hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

function isUpToDate(tests: readonly string[], report: string): boolean {
  const recorded = `${report}.tests`;
  return existsSync(recorded) && readFileSync(recorded, 'utf8') === hashTests(tests);
}

function strykerOptions(
  copy: string,
  file: string,
  testFiles: string[],
  report: string,
  isForced: boolean,
): object {
  return {
    mutate: [file],
    testRunner: 'jest',
    plugins: ['@stryker-mutator/jest-runner'],
    testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings'],
    jest: {
      configFile: 'jest.config.mjs',
      // `selectTests` has chosen already. jest's own search does not follow the imports between packages.
      enableFindRelatedTests: false,
      config: {
        roots: [...new Set(testFiles.map((test) => dirname(test)))],
        testMatch: testFiles,
        runner: join(copy, 'tools/mutation/jestRunner.mjs'),
        testEnvironment: join(copy, 'tools/mutation/failFastEnvironment.cjs'),
        globals: { mutationTestOrder: testFiles },
        // Only tests of the interface need it to be built.
        globalSetup: null,
        cacheDirectory: join(copy, '.jest-cache'),
        // A mutant that makes a promise never settle is killed by this limit.
        testTimeout: 10_000,
      },
    },
    coverageAnalysis: 'perTest',
    concurrency: Number(options.concurrency ?? Math.max(1, Math.floor(availableParallelism() / 2))),
    // Modules of finished tests stay in memory (vm modules).
    maxTestRunnerReuse: 100,
    timeoutMS: 15_000,
    timeoutFactor: 1.5,
    dryRunTimeoutMinutes: 5,
    inPlace: true,
    // swc does not check types.
    disableTypeChecks: false,
    incremental: true,
    incrementalFile: report,
    force: isForced,
    reporters: ['json'],
    jsonReporter: { fileName: join(copy, '.stryker-tmp/report.json') },
    warnings: { slow: false },
    allowEmpty: true,
    logLevel: 'warn',
    allowConsoleColors: false,
  };
}
