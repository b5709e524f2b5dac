// `npm test`: runs jest on the sources and prints a summary that names suites that did not run. With
// BEHALF_TEST_REQUIRE=redis,chromium, a missing program is an error.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTools, toolVariables } from './system.mjs';

/** Tests with real browsers and processes. */
const SCENARIOS = /^test\/(scenarios|vault)\//;
const MOST_REPEATED = 4;

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const found = findTools();
const required = (process.env.BEHALF_TEST_REQUIRE ?? '').split(',').filter(Boolean);

const unknown = required.filter((name) => !found.some((tool) => tool.name === name));
const absent = found.filter((tool) => required.includes(tool.name) && !tool.path);
if (unknown.length > 0) fail(`BEHALF_TEST_REQUIRE names "${unknown.join(', ')}"; it knows ${names(found)}.`);
if (absent.length > 0) {
  fail(`Required and not found: ${names(absent)}. On Debian, as root: npm run setup:system`);
}

const results = join(root, '.build', `test-results-${process.pid}.json`);
mkdirSync(dirname(results), { recursive: true });
const signals = { current: undefined };
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => signals.current?.kill(signal));

let code = await runJest(process.argv.slice(2));
let outcome = readResults();
const unsteady = await tryAgain();

process.stdout.write('\n');
for (const { name, program, path } of found) {
  if (path) continue;
  process.stdout.write(`Not run: ${name} suites (${program} not found; Debian: npm run setup:system)\n`);
}
const mongo = process.env.MONGO_URI
  ? 'the server named by MONGO_URI'
  : 'the in-process test double (set MONGO_URI for a real one)';
process.stdout.write(`MongoDB: ${mongo}\n`);
for (const file of unsteady) process.stdout.write(`Unsteady: ${file} failed once and passed alone\n`);
if (!outcome) fail('jest ended without results; its messages above say why.', code || 1);
process.stdout.write(`${outcome.passed} passed, ${outcome.failed} failed, ${outcome.skipped} skipped\n`);
process.exitCode = code;

function runJest(args) {
  const flags = ['--experimental-vm-modules', '--no-warnings'];
  const program = join(root, 'node_modules/jest/bin/jest.js');
  // jest writes its JSON to stdout unless there is an output file; progress goes to stderr.
  const jest = spawn(process.execPath, [...flags, program, '--json', `--outputFile=${results}`, ...args], {
    ...{ cwd: root, stdio: 'inherit', env: { ...process.env, ...toolVariables(found) } },
  });
  signals.current = jest;
  return new Promise((done) => {
    jest.once('error', (error) => fail(`jest did not start: ${error.message}. Run \`npm ci\` first.`));
    jest.once('exit', (status) => done(status ?? 1));
  });
}

/**
 * With a browser and a dozen processes on two busy cores, a test may miss a deadline. A few failed scenario files
 * therefore run again without other tests, and the summary names them. Other tests are not repeated.
 */
async function tryAgain() {
  const failed = outcome?.failedFiles ?? [];
  const mayRepeat = failed.length <= MOST_REPEATED && failed.every((file) => SCENARIOS.test(file));
  if (code === 0 || failed.length === 0 || !mayRepeat) return [];
  process.stdout.write(`\nRunning again, alone: ${failed.join(', ')}\n`);
  const before = outcome;
  const again = await runJest(['--runInBand', '--runTestsByPath', ...failed]);
  const after = readResults();
  if (!after) return [];
  const repeated = before.countsOf(failed);
  outcome = {
    passed: before.passed - repeated.passed + after.passed,
    failed: before.failed - repeated.failed + after.failed,
    skipped: before.skipped - repeated.skipped + after.skipped,
    failedFiles: after.failedFiles,
  };
  code = again;
  return failed.filter((file) => !after.failedFiles.includes(file));
}

/** A suite that fails to load counts as a failure. */
function readResults() {
  try {
    const json = JSON.parse(readFileSync(results, 'utf8'));
    const files = json.testResults.map(({ name, status, assertionResults }) => ({
      ...{ name: relative(root, name), hasFailed: status === 'failed' },
      ...countTests(assertionResults, status),
    }));
    return {
      ...sum(files),
      failedFiles: files.filter(({ hasFailed }) => hasFailed).map(({ name }) => name),
      countsOf: (names) => sum(files.filter(({ name }) => names.includes(name))),
    };
  } catch {
    return undefined;
  } finally {
    rmSync(results, { force: true });
  }
}

function countTests(tests, status) {
  const of = (...kinds) => tests.filter((test) => kinds.includes(test.status)).length;
  const failed = of('failed');
  return {
    passed: of('passed'),
    failed: failed === 0 && status === 'failed' ? 1 : failed,
    skipped: of('pending', 'todo', 'skipped', 'disabled'),
  };
}

function sum(files) {
  const total = (key) => files.reduce((all, file) => all + file[key], 0);
  return { passed: total('passed'), failed: total('failed'), skipped: total('skipped') };
}

function names(list) {
  return list.map(({ name }) => name).join(', ');
}

function fail(message, status = 1) {
  process.stderr.write(`${message}\n`);
  process.exit(status);
}
