import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from '../../test/mutants.ts';

/** What is wrong with the list itself. A mutant that no longer applies proves nothing and must not pass for one. */
export function checkMutants(list: readonly Mutant[], root: string): string[] {
  const problems: string[] = [];
  for (const { id, file, find, replace } of list) {
    if (find === replace) problems.push(`${id}: replace equals find`);
    if (!existsSync(join(root, file))) {
      problems.push(`${id}: ${file} does not exist`);
      continue;
    }
    const times = readFileSync(join(root, file), 'utf8').split(find).length - 1;
    if (times !== 1)
      problems.push(`${id}: ${JSON.stringify(find)} occurs ${times} times in ${file}, not once`);
  }
  return problems;
}
