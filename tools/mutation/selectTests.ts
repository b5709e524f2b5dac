import { dirname, posix } from 'node:path';
import ts from 'typescript';
import { isTestFile, type SourceFile } from '../sources.ts';

/** These suites start processes and browsers: too slow to run once per mutant. */
const SLOW_SUITES = /^(?:test|api)\//;

/**
 * The test files that run against the mutants of a file: those in its folder and those anywhere that import the file directly.
 * The likeliest to kill a mutant come first, because the first failing test ends its run; property tests take long and come last.
 */
export function selectTests(mutated: string, sources: readonly SourceFile[]): string[] {
  const folder = dirname(mutated);
  const rank = (test: SourceFile): number => {
    if (listImports(test).includes('fast-check')) return 2;
    return importsFile(test, mutated) ? 0 : 1;
  };
  return sources
    .filter(({ path }) => isTestFile(path) && !SLOW_SUITES.test(path))
    .filter((test) => dirname(test.path) === folder || importsFile(test, mutated))
    .sort((a, b) => rank(a) - rank(b))
    .map(({ path }) => path);
}

/** The files to mutate under the given paths, which name files or folders. Tests and declarations are not mutated. */
export function selectFiles(paths: readonly string[], sources: readonly SourceFile[]): string[] {
  const selected = paths.flatMap((argument) => {
    const path = posix.normalize(argument.replace(/^\.\//, '')).replace(/\/$/, '');
    const found = sources
      .map((source) => source.path)
      .filter((file) => file === path || file.startsWith(`${path}/`))
      .filter((file) => !isTestFile(file));
    if (found.length === 0) throw new Error(`No TypeScript file to mutate at ${argument}.`);
    return found;
  });
  return [...new Set(selected)];
}

function listImports({ text }: SourceFile): string[] {
  return ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
}

function importsFile(test: SourceFile, file: string): boolean {
  return listImports(test).some(
    (specifier) => specifier.startsWith('.') && posix.join(dirname(test.path), specifier) === file,
  );
}
