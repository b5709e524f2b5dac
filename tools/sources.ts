import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = resolve(dirname(fileURLToPath(import.meta.url)), '..');

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  path: string;
  text: string;
}

const roots = ['packages', 'api', 'config', 'bench', 'test', 'tools'];
const skippedFolders = new Set(['node_modules', 'dist', '.build', 'fixtures']);

/** All TypeScript files of the repository including tests, read from disk, so that untracked files count. */
export function readSources(root = repositoryRoot): SourceFile[] {
  const sources: SourceFile[] = [];
  const readFolder = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory() && !skippedFolders.has(entry.name)) readFolder(path);
      else if (entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
        sources.push({ path, text: readFileSync(join(root, path), 'utf8') });
    }
  };
  for (const folder of roots) if (existsSync(join(root, folder))) readFolder(folder);
  return sources.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function isTestFile(path: string): boolean {
  return path.endsWith('.test.ts') || path.endsWith('.test.tsx');
}
