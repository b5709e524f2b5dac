import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from './sources.ts';

const run = promisify(execFile);
const project = (references: string[]) =>
  JSON.stringify({
    compilerOptions: {
      composite: true,
      rootDir: 'src',
      outDir: 'dist',
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
  'packages/web/package.json': '{ "type": "module" }',
  'packages/web/vite.config.mjs': 'export default {};\n',
  'packages/web/index.html': '<div id="root"></div><script type="module" src="/src/main.ts"></script>\n',
  'packages/web/src/main.ts': "document.title = 'one ' + process.env.NODE_ENV;\n",
  'packages/contracts/src/index.ts': 'export const known: number = 1;\n',
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
  for (const tool of ['build', 'buildCode', 'buildWeb', 'lock', 'runTool', 'script', 'stale', 'start'])
    await cp(join(repositoryRoot, `tools/${tool}.mjs`), join(root, `tools/${tool}.mjs`));
  await mkdir(join(root, 'node_modules'));
  for (const compiler of ['@swc', 'vite'])
    await symlink(join(repositoryRoot, 'node_modules', compiler), join(root, 'node_modules', compiler));
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

const dist = () => join(root, 'packages/web/dist');

/** The files of the interface. */
async function built(): Promise<string[]> {
  const entries = await readdir(dist(), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(dist(), join(parentPath, name))).sort();
}

describe('build', () => {
  test('compiles once, even for two starts at the same moment', async () => {
    const both = await Promise.all([tool('build.mjs'), tool('build.mjs')]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const said = both.map(({ stderr }) => stderr.replace(/[\d.]+ s/g, 'x s')).join('');
    expect(said.split('\n').sort()).toEqual([
      '',
      'Built api and config/scripts in x s',
      'Built packages/web in x s',
    ]);
    expect(existsSync(join(root, '.build/lock'))).toBe(false);
  }, 60_000);

  test('does nothing when all is fresh, nor when only file times moved', async () => {
    expect(await tool('build.mjs')).toMatchObject({ code: 0, stderr: '' });
    await utimes(join(root, 'api/src/main.ts'), new Date(), new Date());
    expect(await tool('build.mjs')).toMatchObject({ code: 0, stderr: '' });
  });

  test('compiles after a change in a referenced package, and after an output was lost', async () => {
    await writeFile(join(root, 'packages/kernel/src/index.ts'), 'export const one: number = 11;\n');
    expect((await tool('build.mjs')).stderr).toMatch(/^Built/);
    expect(await readFile(join(root, 'packages/kernel/dist/index.js'), 'utf8')).toContain('11');
    await rm(join(root, 'packages/kernel/dist'), { recursive: true });
    expect((await tool('build.mjs')).stderr).toMatch(/^Built/);
    expect(existsSync(join(root, 'packages/kernel/dist/index.js'))).toBe(true);
  }, 60_000);

  test('takes over the lock of a process that died', async () => {
    await mkdir(join(root, '.build/lock'));
    await writeFile(join(root, '.build/lock/pid'), '4194305' /* above any process id */);
    await writeFile(join(root, 'packages/kernel/src/index.ts'), 'export const one: number = 12;\n');
    expect(await tool('build.mjs')).toMatchObject({ code: 0 });
  }, 60_000);

  test('fails with the compiler messages and does not call the result fresh', async () => {
    await writeFile(join(root, 'packages/kernel/src/index.ts'), 'export const one: number = ;\n');
    const first = await tool('build.mjs');
    expect(first).toMatchObject({ code: 1 });
    expect(first.stderr).toMatch(
      /The build failed in packages\/kernel\/src\/index.ts[^]*Expression expected[^]*:1:/,
    );
    expect(await tool('start.mjs')).toMatchObject({ code: 1 });
    await writeFile(join(root, 'packages/kernel/src/index.ts'), 'export const one: number = 1;\n');
    expect(await tool('build.mjs')).toMatchObject({ code: 0 });
  }, 60_000);

  test('does not wait for what the types say: that is asked by `npm run typecheck`', async () => {
    await writeFile(join(root, 'packages/kernel/src/index.ts'), "export const one: number = 'x';\n");
    expect(await tool('build.mjs')).toMatchObject({ code: 0 });
  });

  test('puts the interface together with compressed files beside its own, and without source maps', async () => {
    const [script = '', ...others] = (await built()).filter((name) => /^assets\/.*\.js$/.test(name));
    expect(others).toEqual([]);
    expect(await built()).toEqual([script, `${script}.br`, `${script}.gz`, 'index.html']);
    const text = await readFile(join(dist(), script));
    // And not "test", which is what this run itself has.
    expect(String(text)).toContain('production');
    expect(brotliDecompressSync(await readFile(join(dist(), `${script}.br`)))).toEqual(text);
    expect(gunzipSync(await readFile(join(dist(), `${script}.gz`)))).toEqual(text);
    expect(await readFile(join(dist(), 'index.html'), 'utf8')).toContain(`/${script}`);
  });

  test('builds the interface again for its own sources and for contracts, and leaves the code alone', async () => {
    const onlyWeb = /^Built packages\/web in [\d.]+ s\n$/;
    const before = await built();
    await writeFile(join(root, 'packages/web/src/main.ts'), "document.title = 'two';\n");
    expect((await tool('build.mjs')).stderr).toMatch(onlyWeb);
    // What was there before is gone as a whole.
    expect((await built()).filter((name) => before.includes(name))).toEqual(['index.html']);
    await writeFile(join(root, 'packages/contracts/src/index.ts'), 'export const known: number = 2;\n');
    expect((await tool('build.mjs')).stderr).toMatch(onlyWeb);
    await writeFile(join(root, 'packages/web/src/main.test.ts'), 'broken(\n');
    expect((await tool('build.mjs')).stderr).toBe('');
    // As after Vite was run by hand.
    for (const name of (await built()).filter((other) => other.endsWith('.br'))) await rm(join(dist(), name));
    expect((await tool('build.mjs')).stderr).toMatch(onlyWeb);
    expect((await built()).filter((name) => name.endsWith('.br'))).toHaveLength(1);
  }, 60_000);

  test('leaves the old interface where it is when a build fails', async () => {
    const before = await built();
    await writeFile(join(root, 'packages/web/src/main.ts'), 'document.title = ;\n');
    const failed = await tool('build.mjs');
    expect(failed).toMatchObject({ code: 1 });
    expect(failed.stderr).toContain('The build of the interface failed');
    expect(await built()).toEqual(before);
    expect((await readdir(join(root, '.build'))).sort()).toEqual(['stamp.json', 'web-stamp.json']);
    await writeFile(join(root, 'packages/web/src/main.ts'), "document.title = 'three';\n");
    expect((await tool('build.mjs')).code).toBe(0);
  }, 60_000);

  test('starts the gateway and scripts in the same process: exit code and arguments are direct', async () => {
    expect(await tool('start.mjs')).toMatchObject({ code: 7 });
    expect(await tool('script.mjs', 'greet', 'a', 'b')).toMatchObject({ code: 0, stdout: 'a,b\n' });
    const wrong = await tool('script.mjs', 'nope');
    expect(wrong).toMatchObject({ code: 64 });
    expect(wrong.stderr).toContain('Unknown script "nope"');
  });
});
