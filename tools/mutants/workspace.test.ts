import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '../sources.ts';
import { evaluate, runTests } from './runTests.ts';
import { applyMutant, copyRepository } from './workspace.ts';

const id = 'no-limit';
const title = 'refuses a large number';
const testFile = 'api/src/guard.test.ts';
const guard = 'packages/kernel/src/index.ts';
const files: Record<string, string> = {
  'package.json': '{ "type": "module" }',
  'packages/kernel/package.json':
    '{ "type": "module", "name": "@behalf/kernel", "exports": "./src/index.ts" }',
  [guard]: 'export const allowed = (n: number): boolean => n < 3;\n',
  'api/package.json': '{ "type": "module" }',
  [testFile]: `
    import { expect, test } from '@jest/globals';
    import { allowed } from '@behalf/kernel';
    test('${title}', () => expect(allowed(7)).toBe(false));
    test('is not run', () => { throw new Error('ran'); });`,
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
      test: testFile,
      title,
      limitMs: 60_000,
      env: { ...process.env, NODE_OPTIONS: '' },
    });

  const apply = (find: string, replace: string) =>
    applyMutant(copy, { id, file: guard, find, replace, test: testFile });

  test('runs the mutated package and only the named test, and is restored afterwards', async () => {
    expect(await run()).toEqual({ passed: 1, failed: 0 });

    const undo = await apply('n < 3', 'n > 3');
    expect(evaluate(await run()).status).toBe('killed');
    await undo();
    expect(await readFile(join(copy, guard), 'utf8')).toBe(files[guard]);

    const undoSame = await apply('n < 3', 'n < 4');
    expect(evaluate(await run()).status).toBe('survived');
    await undoSame();
  }, 60_000);

  test('a mutant that is no valid program or fits in two places is refused', async () => {
    await expect(apply('n < 3;', 'n < ;')).rejects.toThrow();
    await expect(apply('n', 'm')).rejects.toThrow(/occurs \d+ times/);
    expect(await readFile(join(copy, guard), 'utf8')).toBe(files[guard]);
  });
});
