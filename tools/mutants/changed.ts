import { execFileSync } from 'node:child_process';
import type { Mutant } from './mutant.ts';

/** Runs git in the repository. Returns undefined if git fails. */
export type Git = (...args: string[]) => string | undefined;

export function gitIn(root: string): Git {
  return (...args) => {
    try {
      return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return undefined;
    }
  };
}

/**
 * The commit to compare with. On a branch, the commit at which it left main. On main itself, the newest tag before this
 * commit, otherwise the last commit before this working day. Undefined if there is none: then every mutant runs.
 */
export function findBase(git: Git): string | undefined {
  const head = git('rev-parse', 'HEAD')?.trim();
  for (const main of ['origin/main', 'main']) {
    const base = git('merge-base', 'HEAD', main)?.trim();
    if (base && base !== head) return base;
  }
  const tag = git('describe', '--tags', '--abbrev=0', 'HEAD~1')?.trim();
  if (tag) return tag;
  const committed = Number(git('show', '--no-patch', '--format=%ct', 'HEAD'));
  const earlier = git('rev-list', '-1', `--before=${committed - WORKING_DAY_S}`, 'HEAD')?.trim();
  return earlier === '' ? undefined : earlier;
}

const WORKING_DAY_S = 8 * 60 * 60;

/** Files that differ from the base, committed or not, and new files that git does not track yet. */
export function changedFiles(git: Git, base: string): Set<string> {
  const lists = [
    git('diff', '--name-only', '-z', base),
    git('ls-files', '--others', '--exclude-standard', '-z'),
  ];
  if (lists.includes(undefined)) throw new Error(`git cannot compare with ${base}. Pass --base COMMIT.`);
  return new Set(lists.flatMap((list) => (list ?? '').split('\0')).filter(Boolean));
}

/** The mutants whose code, test or definition changed. */
export function dueMutants(
  lists: ReadonlyMap<string, readonly Mutant[]>,
  changed: ReadonlySet<string>,
): Mutant[] {
  return [...lists].flatMap(([path, list]) =>
    list.filter(({ file, test }) => [path, file, test].some((each) => changed.has(each))),
  );
}
