import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import {
  collectCommands,
  collectConfigKeys,
  collectErrors,
  collectMetaKeys,
  collectMetrics,
  collectPermissions,
  collectRoutes,
  collectTools,
  collectVariables,
} from './publicSurface.ts';
import { routeFields } from './routeFields.ts';
import { startInProcess } from './scenarios/inProcess.ts';

const isUpdate = process.env['BEHALF_TEST_UPDATE_SURFACE'] === '1';

test('the HTTP routes and their fields match routes.txt', async () => {
  // Both switches add routes. Nothing connects to the issuer.
  const openId = { OPENID_ISSUER: 'http://127.0.0.1:9', OPENID_CLIENT_ID: 'behalf' };
  const gateway = await startInProcess(openId, '{ "authorizationServer": { "enabled": true } }');
  try {
    const routes = gateway.routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    compareWithGolden('routes', collectRoutes(routes));
    expect(Object.keys(routeFields).sort()).toEqual(routes.sort());
  } finally {
    await gateway.close();
  }
});

test.each([
  ['config', collectConfigKeys],
  ['environment', collectVariables],
  ['errors', collectErrors],
  ['tools', collectTools],
  ['permissions', collectPermissions],
  ['commands', collectCommands],
  ['meta', collectMetaKeys],
  ['metrics', collectMetrics],
])('the public names match %s.txt', async (name, collect) => {
  compareWithGolden(name, await collect());
});

/** Fails with the added and removed lines. Reads the files as sets of lines, so their order has no meaning. */
function compareWithGolden(name: string, lines: readonly string[]): void {
  const file = fileURLToPath(new URL(`publicSurface/${name}.txt`, import.meta.url));
  const found = [...new Set(lines)].sort();
  expect(found.length).toBeGreaterThan(3);
  if (isUpdate) writeFileSync(file, `${found.join('\n')}\n`);
  const golden = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  const removed = golden.filter((line) => !found.includes(line)).map((line) => `- ${line}`);
  const added = found.filter((line) => !golden.includes(line)).map((line) => `+ ${line}`);
  if (removed.length + added.length === 0) return;
  throw new Error(
    [
      `The public surface differs from test/publicSurface/${name}.txt:`,
      ...removed,
      ...added,
      'Update the golden file in the same commit for an addition. A removal or rename needs an ADR.',
    ].join('\n'),
  );
}
