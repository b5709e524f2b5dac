import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { findViolations, type Borders, type Manifest } from '../tools/borders.ts';
import { readModule } from '../tools/imports.ts';
import { isTestFile, readSources, repositoryRoot } from '../tools/sources.ts';
import {
  confinements,
  environmentReaders,
  minModules,
  packageRules,
  sharedDependencies,
} from './architecture.ts';

const borders: Borders = {
  packageRules,
  confinements,
  environmentReaders,
  strangers: sharedDependencies,
  manifests: readManifests(),
};

/** Tools and tests may import anything; the table binds what ships. A folder named `test` holds parts of tests. */
const bound = readSources()
  .filter(({ path }) => !isTestFile(path) && !/(?:^|\/)test\/|^tools\//.test(path))
  .map(readModule);

describe('architecture', () => {
  test('holds the import table on every module', () => {
    expect(findViolations(bound, borders)).toEqual([]);
  });

  test('looked at the whole tree', () => {
    expect(bound.length).toBeGreaterThanOrEqual(minModules);
    const silent = packageRules
      .map(({ folder }) => folder)
      .filter((folder) => existsSync(join(repositoryRoot, folder, 'package.json')))
      .filter((folder) => !bound.some(({ path }) => path.startsWith(`${folder}/`)));
    expect(silent).toEqual([]);
  });

  test.each([
    ['packages/contracts/src/a.ts', "import { createHash } from 'node:crypto';", /also runs in a browser/],
    ['packages/contracts/src/a.ts', "import { keyId } from '@behalf/kernel';", /does not allow it/],
    ['packages/kernel/src/a.ts', "import { z } from 'zod';", /does not allow zod/],
    ['packages/gateway/src/a.ts', "import { request } from 'undici';", /does not allow undici/],
    ['packages/gateway/src/a.ts', "import type { Fetch } from '@behalf/egress';", /does not allow it/],
    [
      'packages/gateway/src/access/a.ts',
      "export * from '@modelcontextprotocol/client';",
      /stop at the border/,
    ],
    ['packages/gateway/src/access/a.ts', "await import('child_process');", /spawned in one place/],
    ['packages/gateway/src/access/a.ts', "import net from 'node:net';", /only door out/],
    ['packages/stores/src/sqlite/a.ts', "import { Schema } from 'mongoose';", /one folder per technology/],
    ['packages/stores/src/sqlite/a.ts', "import { callTool } from '@behalf/gateway';", /does not allow it/],
    ['config/scripts/src/a.ts', "type A = import('@behalf/egress').A;", /does not allow it/],
    ['packages/cli/src/a.ts', "import { app } from '@behalf/api/app';", /does not allow it/],
    ['api/src/a.ts', "import { x } from '@behalf/kernel/src/x.ts';", /does not allow it/],
    ['api/src/a.ts', "import { x } from '../../packages/kernel/src/x.ts';", /leaves api/],
    ['api/src/a.ts', "import { MongoClient } from 'mongodb';", /does not allow mongodb/],
    ['api/src/http/server.ts', 'const port = process.env.PORT;', /reads process.env/],
    ['api/src/http/server.ts', 'const { env: e } = process;', /reads process.env/],
    ['api/src/http/server.ts', "const e = globalThis.process['env'];", /reads process.env/],
    ['api/src/http/server.ts', "import { env } from 'node:process';", /hide a read/],
    ['api/src/http/server.ts', 'export default 1;', /default export/],
    ['api/src/http/server.ts', 'const a = 1; export { a as default };', /default export/],
    ['api/src/http/server.ts', 'export default function f() {}', /default export/],
    ['packages/mystery/src/a.ts', '', /no rule covers/],
  ])('reports %s: %s', (path, text, problem) => {
    const found = findViolations([readModule({ path, text })], borders);
    expect(found).toEqual([expect.stringMatching(problem)]);
  });

  test('lets through what the table allows, and text that only looks like an import', () => {
    const text =
      "import { z } from 'zod';\n// import 'undici'; process.env\nconst s = \"import 'undici'\";\n";
    expect(findViolations([readModule({ path: 'packages/contracts/src/a.ts', text })], borders)).toEqual([]);
    const env = 'export const read = () => process.env;';
    expect(findViolations([readModule({ path: 'api/src/env.ts', text: env })], borders)).toEqual([]);
  });

  test('keeps credentials and connections strangers', () => {
    const module = (path: string, ...from: string[]) =>
      readModule({
        path: `packages/gateway/src/${path}`,
        text: from.map((name) => `import { x } from '${name}';`).join(),
      });
    const vault = '../credentials/vault.ts';
    const pool = '../connections/pool.ts';
    expect(findViolations([module('toolcall/callTool.ts', vault, pool)], borders)).toEqual([]);
    expect(findViolations([module('access/a.ts', vault), module('audit/a.ts', pool)], borders)).toEqual([]);
    expect(findViolations([module('credentials/a.ts', pool)], borders)).toHaveLength(1);
    expect(findViolations([module('connections/a.ts', vault)], borders)).toHaveLength(1);
    expect(
      findViolations([module('catalog/a.ts', vault), module('catalog/b.ts', pool)], borders),
    ).toHaveLength(1);
  });
});

function readManifests(): Map<string, Manifest> {
  const manifests = new Map<string, Manifest>();
  for (const { folder } of packageRules) {
    const path = join(repositoryRoot, folder, 'package.json');
    if (existsSync(path)) manifests.set(folder, JSON.parse(readFileSync(path, 'utf8')) as Manifest);
  }
  return manifests;
}
