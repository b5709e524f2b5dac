import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { isTestFile, readSources, repositoryRoot, type SourceFile } from './sources.ts';

/**
 * `npm run shape [-- --no-paths]`: prints size and structure of the code. Counts modules below `src` without tests.
 * `test/callPaths.test.ts` measures the files on the path of a call.
 */

interface PackageShape {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
  readonly medianLines: number;
  readonly exports: number;
  /** Exports that exactly one other module imports. */
  readonly singleUserExports: number;
  /** Names that several modules of the package export. */
  readonly repeatedNames: readonly string[];
}

interface CallPaths {
  readonly warmRestCall: readonly string[];
  readonly coldOboCall: readonly string[];
}

const GOALS = { warmRestCall: 45, coldOboCall: 80 };

const sources = readSources().filter(({ path }) => !isTestFile(path));
const modules = sources.filter(({ path }) => /^(?:packages\/[^/]+|api)\/src\//.test(path));
const users = countUsers(sources);
const packages = [...new Set(modules.map(({ path }) => toPackage(path)))].map(measurePackage);

const columns = ['package', 'files', 'lines', 'median', 'exports', 'one user', 'same name'];
printTable([
  columns,
  ...packages.map((shape) =>
    [
      shape.name,
      shape.files,
      shape.lines,
      shape.medianLines,
      shape.exports,
      shape.singleUserExports,
      shape.repeatedNames.length,
    ].map(String),
  ),
]);
for (const { name, repeatedNames } of packages)
  if (repeatedNames.length > 0) print(`\n${name} exports twice: ${repeatedNames.join(', ')}`);
if (!process.argv.includes('--no-paths')) printCallPaths(measureCallPaths());

function measurePackage(name: string): PackageShape {
  const own = modules.filter(({ path }) => toPackage(path) === name);
  const lines = own.map(({ text }) => text.split('\n').length - 1);
  // A schema and its type share a name.
  const exported = own.flatMap(({ path, text }) =>
    [...new Set(listExports(path, text))].map((symbol) => ({ path, symbol })),
  );
  const counts = new Map<string, number>();
  for (const { symbol } of exported) counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
  return {
    name,
    files: own.length,
    lines: lines.reduce((sum, count) => sum + count, 0),
    medianLines: [...lines].sort((a, b) => a - b)[Math.floor(lines.length / 2)] ?? 0,
    exports: exported.length,
    singleUserExports: exported.filter(({ path, symbol }) => users.get(`${path}#${symbol}`)?.size === 1)
      .length,
    repeatedNames: [...counts]
      .filter(([, count]) => count > 1)
      .map(([symbol]) => symbol)
      .sort(),
  };
}

/** The modules that import each export, by `path#name`. An index that re-exports a name does not count. */
function countUsers(files: readonly SourceFile[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    for (const statement of parse(path, text).statements) {
      if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
      const bindings = statement.importClause?.namedBindings;
      if (!bindings || !ts.isNamedImports(bindings)) continue;
      const specifier = statement.moduleSpecifier.text;
      if (!specifier.startsWith('.')) continue;
      const target = posix.join(posix.dirname(path), specifier);
      for (const { name, propertyName } of bindings.elements) {
        const key = `${target}#${(propertyName ?? name).text}`;
        found.set(key, (found.get(key) ?? new Set()).add(path));
      }
    }
  }
  return found;
}

/** Names that the module declares and exports. Re-exports do not count. */
function listExports(path: string, text: string): string[] {
  return parse(path, text).statements.flatMap((statement) => {
    if (!ts.canHaveModifiers(statement)) return [];
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.flatMap(({ name }) =>
        ts.isIdentifier(name) ? [name.text] : [],
      );
    const { name } = statement as ts.Statement & { readonly name?: ts.Identifier };
    return name === undefined ? [] : [name.text];
  });
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
}

function measureCallPaths(): CallPaths {
  const folder = mkdtempSync(join(tmpdir(), 'behalf-shape-'));
  try {
    const file = join(folder, 'paths.json');
    const { status, stderr } = spawnSync('node', ['tools/test.mjs', 'test/callPaths.test.ts'], {
      cwd: repositoryRoot,
      env: { ...process.env, BEHALF_TEST_CALL_PATHS: file },
      encoding: 'utf8',
    });
    if (status !== 0 || !existsSync(file)) throw new Error(`test/callPaths.test.ts failed:\n${stderr}`);
    return JSON.parse(readFileSync(file, 'utf8')) as CallPaths;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function printCallPaths({ warmRestCall, coldOboCall }: CallPaths): void {
  print(`\nfiles on the path of a warm REST call: ${warmRestCall.length} (goal ${GOALS.warmRestCall})`);
  print(`files on the path of a cold OBO call: ${coldOboCall.length} (goal ${GOALS.coldOboCall})`);
  if (!process.argv.includes('--list')) return;
  print(`\nwarm REST call\n${warmRestCall.join('\n')}`);
  print(
    `\ncold OBO call, in addition\n${coldOboCall.filter((path) => !warmRestCall.includes(path)).join('\n')}`,
  );
}

function toPackage(path: string): string {
  return path.slice(0, path.indexOf('/src/'));
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  for (const row of rows)
    print(
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  '),
    );
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
