import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { repositoryRoot } from './sources.ts';

const run = promisify(execFile);
const project = (references: string[]) =>
  JSON.stringify({
    compilerOptions: {
      composite: true,
      rootDir: 'src',
      outDir: 'dist',
      module: 'NodeNext',
      target: 'ES2023',
      types: [],
      lib: ['ES2023'],
      skipLibCheck: true,
    },
    include: ['src/**/*.ts'],
    references: references.map((path) => ({ path })),
  });
const files: Record<string, string> = {
  'package.json': '{ "type": "module" }',
  'package-lock.json': '{}',
  'tsconfig.base.json': '{}',
  'api/package.json': '{ "type": "module" }',
  'api/tsconfig.json': project(['../packages/kernel']),
  'api/src/main.ts':
    'declare const process: { argv: string[]; exit(code: number): void };\nprocess.exit(process.argv.length === 2 ? 7 : 8);\n',
  'packages/kernel/package.json': '{ "type": "module" }',
  'packages/kernel/tsconfig.json': project([]),
  'packages/kernel/src/index.ts': 'export const one: number = 1;\n',
  'config/scripts/package.json': '{ "type": "module" }',
  'config/scripts/tsconfig.json': project([]),
  'config/scripts/src/greet.ts':
    'declare const process: { argv: string[] };\ndeclare const console: { log(s: string): void };\nconsole.log(process.argv.slice(2).join());\nexport {};\n',
};

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'behalf-build-test-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  for (const tool of ['build', 'lock', 'start', 'script'])
    await cp(join(repositoryRoot, `tools/${tool}.mjs`), join(root, `tools/${tool}.mjs`));
  await mkdir(join(root, 'node_modules'));
  await symlink(join(repositoryRoot, 'node_modules/typescript'), join(root, 'node_modules/typescript'));
});

afterAll(() => rm(root, { recursive: true, force: true }));

/** What the tool said; a build says one line, a fresh tree nothing. */
async function tool(
  name: string,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const { stdout, stderr } = await run(process.execPath, [join(root, 'tools', name), ...args]);
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

describe('build', () => {
  it('compiles once, even for two starts at the same moment', async () => {
    const both = await Promise.all([tool('build.mjs'), tool('build.mjs')]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.map(({ stderr }) => stderr).join('')).toMatch(
      /^Built api and config\/scripts in [\d.]+ s\n$/,
    );
    expect(existsSync(join(root, '.build/lock'))).toBe(false);
  }, 60_000);

  it('does nothing when all is fresh, nor when only file times moved', async () => {
    expect(await tool('build.mjs')).toMatchObject({ code: 0, stderr: '' });
    await utimes(join(root, 'api/src/main.ts'), new Date(), new Date());
    expect(await tool('build.mjs')).toMatchObject({ code: 0, stderr: '' });
  });

  it('compiles after a change in a referenced package, and after an output was lost', async () => {
    await writeFile(join(root, 'packages/kernel/src/index.ts'), 'export const one: number = 11;\n');
    expect((await tool('build.mjs')).stderr).toMatch(/^Built/);
    expect(await readFile(join(root, 'packages/kernel/dist/index.js'), 'utf8')).toContain('11');
    await rm(join(root, 'packages/kernel/dist'), { recursive: true });
    expect((await tool('build.mjs')).stderr).toMatch(/^Built/);
    expect(existsSync(join(root, 'packages/kernel/dist/index.js'))).toBe(true);
  }, 60_000);

  it('takes over the lock of a process that died', async () => {
    await mkdir(join(root, '.build/lock'));
    await writeFile(join(root, '.build/lock/pid'), '4194305' /* above any process id */);
    await writeFile(join(root, 'packages/kernel/src/index.ts'), 'export const one: number = 12;\n');
    expect(await tool('build.mjs')).toMatchObject({ code: 0 });
  }, 60_000);

  it('fails with the compiler messages and does not call the result fresh', async () => {
    await writeFile(join(root, 'packages/kernel/src/index.ts'), "export const one: number = 'x';\n");
    const first = await tool('build.mjs');
    expect(first).toMatchObject({ code: 1 });
    expect(first.stderr).toMatch(/TS2322[^]*The build failed/);
    expect(await tool('start.mjs')).toMatchObject({ code: 1 });
    await writeFile(join(root, 'packages/kernel/src/index.ts'), 'export const one: number = 1;\n');
    expect(await tool('build.mjs')).toMatchObject({ code: 0 });
  }, 60_000);

  it('starts the gateway and scripts in the same process: exit code and arguments are direct', async () => {
    expect(await tool('start.mjs')).toMatchObject({ code: 7 });
    expect(await tool('script.mjs', 'greet', 'a', 'b')).toMatchObject({ code: 0, stdout: 'a,b\n' });
    const wrong = await tool('script.mjs', 'nope');
    expect(wrong).toMatchObject({ code: 64 });
    expect(wrong.stderr).toContain('no script "nope"');
  });
});
