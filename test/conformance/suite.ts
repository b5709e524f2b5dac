import { spawn, type StdioOptions } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequirementSet } from './score.ts';

export const repositoryRoot = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const conformanceFolder = join(repositoryRoot, 'test/conformance');
const suiteFolder = join(conformanceFolder, 'node_modules/@modelcontextprotocol/conformance');
/** The suite needs a newer Node.js than we do. */
const SUITE_NODE = 22;
const nodeOfSuite =
  Number.parseInt(process.versions.node) >= SUITE_NODE
    ? [process.execPath]
    : ['npx', '-y', '-p', `node@${SUITE_NODE}`, '--', 'node'];

/** The suite, as the lock file beside it has it. */
export async function installSuite(): Promise<void> {
  const { dependencies } = readJson(join(conformanceFolder, 'package.json')) as {
    dependencies: Record<string, string>;
  };
  if (installedVersion() === dependencies['@modelcontextprotocol/conformance']) return;
  const npmFlags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const code = await run(['npm', 'ci', '--prefix', conformanceFolder, ...npmFlags], 'inherit');
  if (code !== 0) throw new Error('The conformance suite could not be installed');
}

export function installedVersion(): string | undefined {
  try {
    return (readJson(join(suiteFolder, 'package.json')) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** What a revision asks for. */
export function readRequirements(revision: string): RequirementSet {
  const { parse } = createRequire(join(suiteFolder, 'package.json'))('yaml') as {
    parse: (text: string) => unknown;
  };
  return parse(readFileSync(join(suiteFolder, 'requirements', `${revision}.yaml`), 'utf8')) as RequirementSet;
}

/** Runs it; what it found is below the folder. Its exit code asks for more than is due, and overlooks warnings. */
export async function runSuite(
  leg: 'client' | 'server',
  options: readonly string[],
  name: string,
): Promise<string> {
  const outputFolder = join(repositoryRoot, '.build/conformance', name);
  rmSync(outputFolder, { recursive: true, force: true });
  mkdirSync(outputFolder, { recursive: true });
  const suiteArgs = [join(suiteFolder, 'dist/index.js'), leg, ...options, '--output-dir', outputFolder];
  const log = openSync(join(outputFolder, 'suite.log'), 'w');
  await run([...nodeOfSuite, ...suiteArgs], ['ignore', log, log]);
  return outputFolder;
}

async function run([command = '', ...args]: readonly string[], stdio: StdioOptions): Promise<number> {
  const child = spawn(command, args, { cwd: repositoryRoot, stdio });
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`${command} did not start: ${error.message}`)));
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
