import { cp, lstat, mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseSync } from '@swc/core';
import type { Mutant } from './mutant.ts';

/**
 * A copy of the repository in which mutants are applied, so that the working tree is never touched. Installed packages
 * are links to the real ones, except our own: those must lead into the copy, or the tests would import the code that
 * was not mutated.
 */
export async function copyRepository(root: string, files: readonly string[], target: string): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(target, file)), { recursive: true });
    await cp(join(root, file), join(target, file));
  }
  const manifests = files.filter((file) => file === 'package.json' || file.endsWith('/package.json'));
  for (const manifest of manifests) {
    const folder = join(dirname(manifest), 'node_modules');
    if (await exists(join(root, folder))) await linkModules(root, target, folder);
  }
}

async function linkModules(root: string, target: string, folder: string): Promise<void> {
  await mkdir(join(target, folder), { recursive: true });
  const realRoot = await realpath(root);
  for (const name of await readdir(join(root, folder))) {
    if (name !== '@behalf') {
      await symlink(join(root, folder, name), join(target, folder, name));
      continue;
    }
    await mkdir(join(target, folder, name));
    for (const own of await readdir(join(root, folder, name))) {
      const source = relative(realRoot, await realpath(join(root, folder, name, own)));
      await symlink(join(target, source), join(target, folder, name, own));
    }
  }
}

/** Applies a mutant to the copy and returns the undo. Throws when the result is no longer a program. */
export async function applyMutant(
  copy: string,
  { file, find, replace }: Mutant,
): Promise<() => Promise<void>> {
  const path = join(copy, file);
  const original = await readFile(path, 'utf8');
  const parts = original.split(find);
  if (parts.length !== 2)
    throw new Error(`${JSON.stringify(find)} occurs ${parts.length - 1} times in ${file}`);
  const mutated = parts.join(replace);
  // A child process of a test could fail on a syntax error and turn the test red for the wrong reason.
  if (/\.[mc]?tsx?$/.test(file)) parseSync(mutated, { syntax: 'typescript', tsx: file.endsWith('x') });
  else if (/\.[mc]?js$/.test(file)) parseSync(mutated, { syntax: 'ecmascript' });
  await writeFile(path, mutated);
  return () => writeFile(path, original);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
