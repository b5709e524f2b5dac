import { spawn, type StdioOptions } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequirementSet } from './score.ts';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const home = join(root, 'test/conformance');
const suite = join(home, 'node_modules/@modelcontextprotocol/conformance');
/** The suite needs a newer Node.js than we do. */
const SUITE_NODE = 22;
const nodeOfSuite =
  Number.parseInt(process.versions.node) >= SUITE_NODE
    ? [process.execPath]
    : ['npx', '-y', '-p', `node@${SUITE_NODE}`, '--', 'node'];

/** The suite, as the lock file beside it has it. */
export async function installSuite(): Promise<void> {
  const { dependencies } = readJson(join(home, 'package.json')) as { dependencies: Record<string, string> };
  if (installedVersion() === dependencies['@modelcontextprotocol/conformance']) return;
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const code = await run(['npm', 'ci', '--prefix', home, ...quietly], 'inherit');
  if (code !== 0) throw new Error('The conformance suite could not be installed');
}

export function installedVersion(): string | undefined {
  try {
    return (readJson(join(suite, 'package.json')) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** What a revision asks for. */
export function requirementsOf(revision: string): RequirementSet {
  const { parse } = createRequire(join(suite, 'package.json'))('yaml') as {
    parse: (text: string) => unknown;
  };
  return parse(readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8')) as RequirementSet;
}

/** Runs it; what it found is below the folder. Its exit code asks for more than is due, and overlooks warnings. */
export async function runSuite(
  leg: 'client' | 'server',
  options: readonly string[],
  name: string,
): Promise<string> {
  const out = join(root, '.build/conformance', name);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const asked = [join(suite, 'dist/index.js'), leg, ...options, '--output-dir', out];
  const log = openSync(join(out, 'suite.log'), 'w');
  await run([...nodeOfSuite, ...asked], ['ignore', log, log]);
  return out;
}

async function run([command = '', ...args]: readonly string[], stdio: StdioOptions): Promise<number> {
  const child = spawn(command, args, { cwd: root, stdio });
  return new Promise((done, fail) => {
    child.once('error', (error) => fail(new Error(`${command} did not start: ${error.message}`)));
    child.once('exit', (code) => done(code ?? 1));
  });
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
