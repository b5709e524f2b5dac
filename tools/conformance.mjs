// `npm run conformance`: the official client suite of MCP against our own upstream and OAuth code, and the score.
// `--requirements REVISION` runs one set alone. What was sent and said stays in .build/conformance.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { askedOf, readResults, score } from '../test/conformance/score.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const home = join(root, 'test/conformance');
const suite = join(home, 'node_modules/@modelcontextprotocol/conformance');
/** All scenarios of a set are begun at once and wait for their turn. */
const TIMEOUT_MS = 600_000;
/** The suite needs a newer Node.js than we do. */
const SUITE_NODE = 22;
const nodeOfSuite =
  Number.parseInt(process.versions.node) >= SUITE_NODE
    ? [process.execPath]
    : ['npx', '-y', '-p', `node@${SUITE_NODE}`, '--', 'node'];

try {
  await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function main() {
  const sets = { type: 'string', multiple: true, default: ['2025-11-25', '2026-07-28'] };
  const { values } = parseArgs({ options: { requirements: sets } });
  await install();
  const dir = mkdtempSync(join(tmpdir(), 'behalf-conformance-'));
  const socket = join(dir, 'driver.sock');
  const driver = startDriver(socket);
  try {
    await isReady(driver);
    for (const revision of values.requirements) {
      if (!print(revision, await play(revision, socket))) process.exitCode = 1;
    }
  } finally {
    driver.kill();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The suite, as the lock file beside it has it. */
async function install() {
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  if (installedVersion() === dependencies['@modelcontextprotocol/conformance']) return;
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const code = await run(['npm', 'ci', '--prefix', home, ...quietly], 'inherit');
  if (code !== 0) throw new Error('The conformance suite could not be installed');
}

function installedVersion() {
  try {
    return JSON.parse(readFileSync(join(suite, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

/** Ends with its standard input, however we end. */
function startDriver(socket) {
  const loader = ['--import', join(root, 'tools/ts-loader.mjs')];
  return spawn(process.execPath, [...loader, join(home, 'driver.ts'), socket], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function isReady({ stdout }) {
  for await (const line of createInterface({ input: stdout })) if (line === 'ready') return;
  throw new Error('The driver did not start');
}

async function play(revision, socket) {
  const out = join(root, '.build/conformance', revision);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const command = [process.execPath, join(home, 'client.mjs'), socket].map(quoted).join(' ');
  const options = ['--requirements', revision, '--timeout', String(TIMEOUT_MS), '--output-dir', out];
  const asked = [join(suite, 'dist/index.js'), 'client', '--command', command, ...options];
  // Its exit code asks for more than is due, and overlooks warnings.
  await run([...nodeOfSuite, ...asked], openSync(join(out, 'suite.log'), 'w'));
  const { parse } = createRequire(join(suite, 'package.json'))('yaml');
  const set = parse(readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8'));
  return score(askedOf(set), readResults(out));
}

/** Whether all that is due passed. */
function print(revision, verdicts) {
  const lines = verdicts.flatMap(({ name, isDue, isScored, passed, wrong }) => {
    const note = isDue ? '' : isScored ? ' (due later)' : ' (not scored)';
    const mark = wrong.length === 0 ? '✓' : '✗';
    return [
      `${mark} ${name}: ${passed} checks passed${note}`,
      ...wrong.map((line) => `    ${firstLine(line)}`),
    ];
  });
  const due = verdicts.filter(({ isDue }) => isDue);
  const scored = verdicts.filter(({ isScored }) => isScored);
  const text = [
    `MCP ${revision}, client, suite ${installedVersion()}`,
    ...lines.map((line) => `  ${line}`),
    `  Due: ${tally(due)}. Scored by the suite: ${tally(scored)}.`,
  ];
  process.stdout.write(`${text.join('\n')}\n\n`);
  return due.every(({ wrong }) => wrong.length === 0);
}

function firstLine(text) {
  return text.split('\n', 1)[0];
}

function tally(verdicts) {
  return `${verdicts.filter(({ wrong }) => wrong.length === 0).length} of ${verdicts.length} pass`;
}

function run([command, ...args], output) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', output, output] });
  return new Promise((done, fail) => {
    child.once('error', (error) => fail(new Error(`${command} did not start: ${error.message}`)));
    child.once('exit', (code) => done(code ?? 1));
  });
}

/** For the shell in which the suite starts its client. */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
