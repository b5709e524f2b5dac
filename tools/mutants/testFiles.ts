import { findPromises } from '../promises.ts';
import { isSuiteFile, isTestFile, type SourceFile } from '../sources.ts';

/**
 * The test files that run the tests of each id: those that hold the id, and, when it stands in a contract suite, those
 * that call the suite. A suite may be called by another suite, so the callers are followed until none is new.
 */
export function testFilesById(sources: readonly SourceFile[]): Map<string, string[]> {
  const found = new Map<string, Set<string>>();
  for (const { id, path } of findPromises(sources)) {
    if (id === undefined) continue;
    const files = found.get(id) ?? new Set<string>();
    found.set(id, files);
    for (const file of isTestFile(path) ? [path] : callersOf(path, sources)) files.add(file);
  }
  return new Map([...found].map(([id, files]) => [id, [...files].sort()]));
}

function callersOf(suite: string, sources: readonly SourceFile[]): string[] {
  const tests = new Set<string>();
  const suites = new Set([suite]);
  for (const path of suites) {
    const text = sources.find((source) => source.path === path)?.text ?? '';
    const names = exportedFunctions(text);
    if (names.length === 0) continue;
    const called = new RegExp(`\\b(?:${names.join('|')})\\s*\\(`);
    for (const source of sources) {
      if (source.path === path || !called.test(source.text)) continue;
      if (isTestFile(source.path)) tests.add(source.path);
      else if (isSuiteFile(source.path)) suites.add(source.path);
    }
  }
  return [...tests];
}

export function exportedFunctions(text: string): string[] {
  return [...text.matchAll(/^export (?:async )?(?:function|const) (\w+)/gm)].map(
    ([, name]) => name as string,
  );
}

/**
 * Of the test files of an id, those that stand beside the mutated file: a promise that every store keeps has tests for
 * each, and only one store's are of interest when that store is changed. All of them when none stands there.
 */
export function nearestFiles(files: readonly string[], mutated: string): readonly string[] {
  const folder = mutated.slice(0, mutated.lastIndexOf('/') + 1);
  const near = files.filter((file) => file.slice(0, file.lastIndexOf('/') + 1) === folder);
  return near.length > 0 ? near : files;
}
