import { execFileSync } from 'node:child_process';
import { transformSync } from '@swc/core';
import type { Mutant } from '../../test/mutants.ts';

/** Runs git in the repository; undefined when git says no. */
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
 * The commit that "changed" is measured from. On a branch: where it left main. On main itself (a clean clone in CI) that
 * would compare main with main and check nothing, so there it is the newest tag before this commit, or without tags the
 * last commit before a pause of this one's working day. Undefined: nothing to compare with, so every mutant runs.
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

/** What was pushed together was committed within this time. */
const WORKING_DAY_S = 8 * 60 * 60;

/** Files that differ from the base, committed or not, and new files git does not know yet. */
export function changedFiles(git: Git, base: string): Set<string> {
  const listed = [
    git('diff', '--name-only', '-z', base),
    git('ls-files', '--others', '--exclude-standard', '-z'),
  ];
  if (listed.includes(undefined))
    throw new Error(`git cannot compare with ${base}; pass --base with a commit it has.`);
  return new Set(listed.flatMap((list) => (list ?? '').split('\0')).filter(Boolean));
}

/**
 * A mutant is due when the code it changes, or a test that must kill it, or the mutant itself changed: a test made
 * weaker lets a mutant live just as a change of the code does.
 */
export function dueMutants(
  list: readonly Mutant[],
  changed: ReadonlySet<string>,
  testFiles: ReadonlyMap<string, readonly string[]>,
  before: readonly Mutant[],
): Mutant[] {
  const known = new Set(before.map(fingerprint));
  return list.filter(
    (mutant) =>
      changed.has(mutant.file) ||
      (testFiles.get(mutant.id) ?? []).some((file) => changed.has(file)) ||
      !known.has(fingerprint(mutant)),
  );
}

/** The mutants as the base listed them. A list file that cannot be read back counts as empty: its mutants all run. */
export async function mutantsAt(git: Git, base: string): Promise<Mutant[]> {
  const names = git('ls-tree', '--name-only', base, 'test/mutants/') ?? '';
  const found: Mutant[] = [];
  for (const name of names.split('\n').filter(Boolean)) {
    const text = git('show', `${base}:${name}`);
    if (text === undefined) continue;
    const { code } = transformSync(text, {
      swcrc: false,
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'es6' },
    });
    try {
      const area = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<
        string,
        Mutant[]
      >;
      for (const list of Object.values(area)) found.push(...list);
    } catch {
      continue;
    }
  }
  return found;
}

function fingerprint({ id, file, find, replace }: Mutant): string {
  return JSON.stringify([id, file, find, replace]);
}
