import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One change to the code that must make a test fail. */
export interface Mutant {
  /** Names the fault, for example `refresh-without-the-lease`. */
  id: string;
  /** The file to change. */
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
  /** The test file that must fail. */
  test: string;
  /** The title of the test that must fail, for a test file that takes long. */
  title?: string;
}

export const MAX_MUTANTS = 150;

const SUITES = 'packages/testkit/src/suites';

/** The mutants of every file in test/mutants, by the path of that file. */
export async function loadMutants(root: string): Promise<Map<string, readonly Mutant[]>> {
  const found = new Map<string, readonly Mutant[]>();
  for (const name of readdirSync(join(root, 'test/mutants')).sort()) {
    const path = `test/mutants/${name}`;
    const exported = (await import(join(root, path))) as Record<string, readonly Mutant[]>;
    found.set(path, Object.values(exported).flat());
  }
  return found;
}

/** Problems of the list itself. A mutant that no longer applies proves nothing. */
export function checkMutants(list: readonly Mutant[], root: string): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  const read = (path: string): string | undefined =>
    existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined;
  for (const { id, file, find, replace, test, title } of list) {
    if (ids.has(id)) problems.push(`${id}: the id is used twice`);
    ids.add(id);
    if (find === replace) problems.push(`${id}: replace equals find`);
    const text = read(file);
    const count = (text ?? '').split(find).length - 1;
    if (text === undefined) problems.push(`${id}: ${file} does not exist`);
    else if (count !== 1) problems.push(`${id}: ${JSON.stringify(find)} occurs ${count} times in ${file}`);
    const tests = read(test);
    if (tests === undefined) problems.push(`${id}: ${test} does not exist`);
    else if (title !== undefined && ![tests, ...readSuites(root)].some((each) => each.includes(title))) {
      problems.push(`${id}: no test has the title ${JSON.stringify(title)}`);
    }
  }
  if (list.length > MAX_MUTANTS) problems.push(`${list.length} mutants, more than ${MAX_MUTANTS}`);
  return problems;
}

/** Test files of the stores run the contract suites of testkit, which hold the titles. */
function readSuites(root: string): string[] {
  return readdirSync(join(root, SUITES)).map((name) => readFileSync(join(root, SUITES, name), 'utf8'));
}
