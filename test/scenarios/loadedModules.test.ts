import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createWorkspace, type GatewayWorkspace } from './gatewayProcess.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const projects = [
  'api',
  ...['contracts', 'kernel', 'settings', 'egress', 'gateway', 'stores'].map((name) => `packages/${name}`),
];

/** What the product declares to depend on, its own packages aside. */
function declared(): Set<string> {
  const manifests = projects.map(
    (project) =>
      JSON.parse(readFileSync(join(root, project, 'package.json'), 'utf8')) as {
        dependencies?: Record<string, string>;
      },
  );
  const names = manifests.flatMap(({ dependencies = {} }) => Object.keys(dependencies));
  return new Set(names.filter((name) => !name.startsWith('@behalf/')));
}

describe('a default start', () => {
  let workspace: GatewayWorkspace;
  beforeEach(async () => {
    workspace = await createWorkspace();
  });
  afterEach(() => workspace.cleanUp());

  test('loads these of our dependencies, and leaves the others for who configures them', async () => {
    const list = join(workspace.dir, 'loaded.txt');
    const recorder = fileURLToPath(new URL('./recordLoadedModules.mjs', import.meta.url));
    const gateway = await workspace.start({ NODE_OPTIONS: `--import ${recorder}`, BEHALF_TEST_LOADED: list });
    await gateway.stop();
    const loaded = new Set<string>();
    for (const file of (await readFile(list, 'utf8')).split('\n')) {
      const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
      if (name) loaded.add(name);
    }
    const ours = declared();
    expect([...ours].filter((name) => loaded.has(name)).sort()).toEqual([
      '@modelcontextprotocol/client',
      'ajv',
      'express',
      'helmet',
      'keyv',
      'libsql',
      'prom-client',
      're2js',
      'undici',
      'winston',
      'ws',
      'yaml',
      'zod',
    ]);
    // Those that are loaded later bring others with them; none of those is here either.
    for (const large of [
      'mongodb',
      'bson',
      '@redis/client',
      '@azure/msal-node',
      '@opentelemetry/sdk-node',
      'oidc-provider',
    ]) {
      expect(loaded).not.toContain(large);
    }
  }, 60_000);
});
