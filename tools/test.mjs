// `npm test`: jest over the sources, with what this machine offers, and a last word that says what did not run.
// BEHALF_TEST_REQUIRE=redis,chromium turns a missing tool from a note into a failure, so CI cannot pass by skipping.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTools, toolVariables } from './system.mjs';

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
const jest = spawn(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--no-warnings',
    join(root, 'node_modules/jest/bin/jest.js'),
    '--json',
    `--outputFile=${results}`,
    ...process.argv.slice(2),
  ],
  // jest sends its JSON to stdout only without an output file; readable progress goes to stderr.
  { cwd: root, stdio: 'inherit', env: { ...process.env, ...toolVariables(found) } },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => jest.kill(signal));
const code = await new Promise((done) => {
  jest.once('error', (error) => fail(`jest did not start: ${error.message}. Run \`npm ci\` first.`));
  jest.once('exit', (status) => done(status ?? 1));
});

const counts = readCounts();
process.stdout.write('\n');
for (const { name, program, path } of found) {
  if (path) continue;
  process.stdout.write(`Not run: ${name} suites (${program} not found; Debian: npm run setup:system)\n`);
}
const mongo = process.env.MONGO_URI
  ? 'the server named by MONGO_URI'
  : 'the in-process test double (set MONGO_URI for a real one)';
process.stdout.write(`MongoDB: ${mongo}\n`);
if (!counts) fail('jest ended without results; its messages above say why.', code || 1);
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = code;

/** A suite that could not even load counts as a failure: nobody must read "0 failed" over a broken file. */
function readCounts() {
  try {
    const json = JSON.parse(readFileSync(results, 'utf8'));
    return {
      passed: json.numPassedTests,
      failed: json.numFailedTests + json.numRuntimeErrorTestSuites,
      skipped: json.numPendingTests + json.numTodoTests,
    };
  } catch {
    return undefined;
  } finally {
    rmSync(results, { force: true });
  }
}

function names(list) {
  return list.map(({ name }) => name).join(', ');
}

function fail(message, status = 1) {
  process.stderr.write(`${message}\n`);
  process.exit(status);
}
