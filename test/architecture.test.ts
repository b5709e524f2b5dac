import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ImportReport, checkImports } from '../tools/importRules.ts';
import { repositoryRoot } from '../tools/sources.ts';
import { acyclicFolders, confinements, minModules, packageRules } from './architecture.ts';

describe('the repository', () => {
  let report: ImportReport;
  beforeAll(async () => {
    report = await checkImports(repositoryRoot, { packageRules, confinements, acyclicFolders });
  }, 120_000);

  test('imports only what the table allows, without cycles between folders', () => {
    expect(report.violations).toEqual([]);
  });

  test('was analyzed completely', () => {
    expect(report.modules.length).toBeGreaterThanOrEqual(minModules);
    const missing = packageRules.filter(
      ({ folder }) => !report.modules.some((path) => path.startsWith(`${folder}/`)),
    );
    expect(missing).toEqual([]);
  });
});

/** Modules with one forbidden import each, and the expected violation. */
const forbidden: readonly (readonly [path: string, text: string, violation: RegExp])[] = [
  ['packages/contracts/src/a.ts', "import 'node:crypto';", /does not allow this in packages\/contracts/],
  ['packages/contracts/src/b.ts', "import '@behalf/kernel';", /does not allow this in packages\/contracts/],
  ['packages/kernel/src/a.ts', "import 'zod';", /does not allow this in packages\/kernel/],
  ['packages/gateway/src/a.ts', "import 'undici';", /does not allow this in packages\/gateway/],
  [
    'packages/gateway/src/b.ts',
    "import type { x } from '@behalf/egress';",
    /does not allow this in packages\/gateway/,
  ],
  ['packages/gateway/src/access/a.ts', "export * from '@modelcontextprotocol/client';", /types of the SDK/],
  ['packages/gateway/src/access/b.ts', "await import('child_process');", /spawned in one place/],
  ['packages/gateway/src/access/c.ts', "import 'node:net';", /only egress connects/],
  ['packages/gateway/src/access/d.ts', "import '../connections/a.ts';", /only toolcall and servers combine/],
  ['packages/stores/src/sqlite/a.ts', "import 'mongoose';", /one folder per technology/],
  ['packages/stores/src/sqlite/b.ts', "import '@behalf/gateway';", /does not allow this in packages\/stores/],
  ['config/scripts/src/a.ts', "export type A = import('@behalf/egress').A;", /does not allow this in config/],
  ['packages/cli/src/a.ts', "import '@behalf/api/app';", /does not allow this in packages\/cli/],
  ['api/src/a.ts', "import '@behalf/kernel/src/x.ts';", /does not allow this in api/],
  ['api/src/b.ts', "import '../../packages/kernel/src/index.ts';", /it leaves api/],
  ['api/src/c.ts', "import 'mongodb';", /does not allow this in api/],
  ['api/src/d.ts', "import 'winston';", /api\/package.json does not declare it/],
  ['api/src/e.ts', "import 'node:process';", /would not be recognized/],
  [
    'packages/gateway/src/credentials/obo/a.ts',
    "import '../vault/a.ts';",
    /obo and vault depend on each other in a cycle/,
  ],
  [
    'packages/gateway/src/credentials/vault/a.ts',
    "import '../obo/a.ts';",
    /vault and obo depend on each other in a cycle/,
  ],
];

/** Modules without a violation. */
const allowed: readonly (readonly [path: string, text: string])[] = [
  [
    'packages/contracts/src/z.ts',
    "import 'zod';\n// import 'undici';\nexport const s = \"import 'undici'\";",
  ],
  ['packages/gateway/src/toolcall/a.ts', "import '../connections/a.ts';\nimport '../credentials/a.ts';"],
  ['packages/gateway/src/connections/a.ts', 'export {};'],
  ['packages/gateway/src/credentials/a.ts', 'export {};'],
  ['packages/gateway/src/credentials/oauth/a.ts', "import type { x } from '../signin/a.ts';"],
  ['packages/gateway/src/credentials/signin/a.ts', "import '../oauth/a.ts';\nexport const x = 1;"],
  ['packages/gateway/src/access/a.test.ts', "import 'undici';"],
];

describe('a copy of the packages with wrong imports', () => {
  let root: string;
  let violations: readonly string[];

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'behalf-architecture-'));
    createPackages(root);
    for (const [path, text] of [...forbidden, ...allowed]) write(root, path, text);
    ({ violations } = await checkImports(root, { packageRules, confinements, acyclicFolders }));
  }, 120_000);
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test.each(forbidden)('%s with %s is reported', (path, _text, violation) => {
    const own = violations.filter((line) => line.includes(path));
    expect(own).toContainEqual(expect.stringMatching(violation));
  });

  test('no other module is reported', () => {
    const paths = forbidden.map(([path]) => path);
    expect(violations.filter((line) => !paths.some((path) => line.includes(path)))).toEqual([]);
  });
});

/** All packages with their manifests and empty entry files, and npm packages without content. */
function createPackages(root: string): void {
  for (const { folder } of packageRules) {
    write(root, `${folder}/src/empty.ts`, 'export {};');
    const manifestFile = `${folder}/package.json`;
    if (!existsSync(join(repositoryRoot, manifestFile))) continue;
    mkdirSync(dirname(join(root, manifestFile)), { recursive: true });
    cpSync(join(repositoryRoot, manifestFile), join(root, manifestFile));
    const manifest = readManifest(join(root, manifestFile));
    for (const entry of Object.values(manifest.exports ?? {}))
      write(root, `${folder}/${entry['behalf-source'] ?? ''}`, 'export {};');
    mkdirSync(join(root, 'node_modules/@behalf'), { recursive: true });
    symlinkSync(join(root, folder), join(root, 'node_modules', manifest.name));
  }
  const manifest = readManifest(join(root, 'api/package.json'));
  const { winston: _undeclared, ...dependencies } = manifest.dependencies ?? {};
  write(root, 'api/package.json', JSON.stringify({ ...manifest, dependencies }));
  for (const name of new Set([...packageRules.flatMap(({ npm }) => npm), 'mongodb'])) {
    write(root, `node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' }));
    write(root, `node_modules/${name}/index.js`, '');
  }
}

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
