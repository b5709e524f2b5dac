import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '../sources.ts';
import { runTests } from './runTests.ts';
import { judge } from './verdict.ts';
import { applyMutant, copyRepository } from './workspace.ts';

const id = 'guard.number.refused';
const guard = 'packages/kernel/src/index.ts';
const files: Record<string, string> = {
  'package.json': '{ "type": "module" }',
  'packages/kernel/package.json':
    '{ "type": "module", "name": "@behalf/kernel", "exports": "./src/index.ts" }',
  [guard]: 'export const allowed = (n: number): boolean => n < 3;\n',
  'api/package.json': '{ "type": "module" }',
  'api/src/guard.test.ts': `
    import { expect, it } from '@jest/globals';
    import { allowed } from '@behalf/kernel';
    it('[${id}] refuses a large number', () => expect(allowed(7)).toBe(false));
    it('[other.id.here] is not asked', () => { throw new Error('ran'); });`,
};

let scratch: string;
let copy: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'behalf-workspace-test-'));
  const root = join(scratch, 'root');
  copy = join(scratch, 'copy');
  const jestConfig = await readFile(join(repositoryRoot, 'jest.config.mjs'), 'utf8');
  files['jest.config.mjs'] = jestConfig
    .replace(/roots: \[[^\]]*\]/, "roots: ['<rootDir>/api', '<rootDir>/packages']")
    // There is no interface to build here.
    .replace(/globalSetup: .*/, '');
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  // An installed tree as npm makes it: packages, and links to the workspaces.
  await mkdir(join(root, 'node_modules/@behalf'), { recursive: true });
  for (const name of await readdir(join(repositoryRoot, 'node_modules'))) {
    if (name === '@behalf' || name.startsWith('.')) continue;
    await symlink(join(repositoryRoot, 'node_modules', name), join(root, 'node_modules', name));
  }
  await symlink('../../packages/kernel', join(root, 'node_modules/@behalf/kernel'));
  await copyRepository(root, Object.keys(files), copy);
}, 60_000);

afterAll(() => rm(scratch, { recursive: true, force: true }));

describe('a copy of the repository', () => {
  const run = () =>
    runTests({
      copy,
      id,
      files: ['api/src/guard.test.ts'],
      limitMs: 60_000,
      env: { ...process.env, NODE_OPTIONS: '' },
    });

  test('runs the mutated package, only the tests of the id, and is whole again afterwards', async () => {
    expect(await run()).toEqual({ passed: 1, failed: 0, broken: undefined });

    const undo = await applyMutant(copy, { id, file: guard, find: 'n < 3', replace: 'n > 3' });
    expect(judge(await run()).result).toBe('killed');
    await undo();
    expect(await readFile(join(copy, guard), 'utf8')).toBe(files[guard]);

    const undoSame = await applyMutant(copy, { id, file: guard, find: 'n < 3', replace: 'n < 4' });
    expect(judge(await run()).result).toBe('survived');
    await undoSame();
  }, 60_000);

  test('refuses a mutant that is not a program any more, or that fits in two places', async () => {
    const apply = (find: string, replace: string) => applyMutant(copy, { id, file: guard, find, replace });
    await expect(apply('n < 3;', 'n < ;')).rejects.toThrow();
    await expect(apply('n', 'm')).rejects.toThrow(/occurs \d+ times/);
    expect(await readFile(join(copy, guard), 'utf8')).toBe(files[guard]);
  });
});
