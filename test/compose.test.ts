import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { parse } from 'yaml';
import { envVariables } from '@behalf/contracts';
import { repositoryRoot } from '../tools/sources.ts';

interface Service {
  image?: string;
  environment?: Record<string, string>;
  volumes?: unknown[];
  networks?: string[];
  ports?: string[];
  healthcheck?: { test: string[] };
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  privileged?: boolean;
  user?: string;
  stop_grace_period?: string;
  deploy?: { replicas?: number };
}

interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
}

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
const text = read('docker-compose.yml');
const compose = parse(text) as Compose;
const services = Object.entries(compose.services);

/** Used by Compose itself and never handed to the gateway; explained at the top of docker-compose.yml. */
const composeOnly = ['MONGO_PASSWORD', 'MONGO_ROOT_PASSWORD'];

describe('docker-compose.yml', () => {
  test('is a Compose file by the schema of the Compose Specification', () => {
    const validate = composeValidator();
    expect(validate(compose)).toEqual([]);
    const { gateway } = compose.services;
    expect(validate({ ...compose, services: { gateway: { ...gateway, read_onyl: true } } })).not.toEqual([]);
    expect(
      validate({ ...compose, services: { gateway: { ...gateway, stop_grace_period: 'soon' } } }),
    ).not.toEqual([]);
  });

  test.each(services)('gives %s no more rights than it needs', (name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(service.privileged).toBeUndefined();
    expect(service.healthcheck?.test.length).toBeGreaterThan(1);
    if (name !== 'proxy') expect(service.user).toMatch(/^(?!0\b|root\b)\S+/);
    expect(service.cap_add ?? []).toEqual(name === 'proxy' ? ['NET_BIND_SERVICE'] : []);
    expect(JSON.stringify(service.volumes ?? [])).not.toContain('docker.sock');
  });

  test('opens the proxy to the world and nothing else', () => {
    expect(services.filter(([, service]) => service.ports).map(([name]) => name)).toEqual(['proxy']);
    expect(compose.services['mongo']?.networks).toEqual(['stores']);
    expect(compose.services['redis']?.networks).toEqual(['stores']);
    expect(compose.networks['stores']?.internal).toBe(true);
  });

  test('runs two gateways and gives them time to drain', () => {
    expect(compose.services['gateway']).toMatchObject({ deploy: { replicas: 2 }, stop_grace_period: '30s' });
  });

  test('refuses to start without its secrets, and holds none itself', () => {
    for (const name of ['CREDS_KEY', 'MONGO_PASSWORD', 'MONGO_ROOT_PASSWORD', 'REDIS_PASSWORD']) {
      const uses = [...text.matchAll(new RegExp(`(?<!\\$)\\$\\{${name}(.*?)\\}`, 'g'))].map(
        ([, rest]) => rest,
      );
      expect(uses.length).toBeGreaterThan(0);
      for (const use of uses) expect(use).toMatch(/^:\?Set /);
    }
  });

  test('uses only variables that exist, in the environment table of the gateway', () => {
    const known = Object.keys(envVariables);
    const interpolated = [...text.matchAll(/(?<!\$)\$\{([A-Z_]+)/g)].map(([, name]) => name as string);
    expect(interpolated.filter((name) => !known.includes(name) && !composeOnly.includes(name))).toEqual([]);
    const handed = Object.keys(compose.services['gateway']?.environment ?? {});
    expect(handed.filter((name) => !known.includes(name))).toEqual([]);
  });

  test('runs the same MongoDB and Redis that the workflow tests against', () => {
    const workflow = read('.github/workflows/ci.yml');
    for (const name of ['mongo', 'redis'])
      expect(workflow).toContain(`image: ${compose.services[name]?.image}\n`);
  });
});

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile');
  const runtime = dockerfile.slice(dockerfile.indexOf('AS runtime'));

  test('runs as a plain user, without a package manager, with a health check', () => {
    expect(runtime).toMatch(/^USER node$/m);
    expect(runtime).toMatch(/^HEALTHCHECK /m);
    expect(runtime).toMatch(/\/usr\/local\/bin\/npm /);
    expect(runtime).toMatch(/^CMD \["node", "api\/dist\/main\.js"\]$/m);
    expect(runtime.indexOf('USER node')).toBeGreaterThan(runtime.lastIndexOf('RUN '));
  });

  test('installs without running install scripts', () => {
    const installs = dockerfile.split('\n').filter((line) => line.includes('npm ci'));
    expect(installs.length).toBeGreaterThan(0);
    for (const line of installs) expect(line).toContain('--ignore-scripts');
  });

  test('names only variables of the environment table', () => {
    const block = /^ENV ((?:.*\\\n)*.*)$/m.exec(runtime)?.[1] ?? '';
    const names = [...block.matchAll(/([A-Z_]+)=/g)].map(([, name]) => name as string);
    expect(names).toContain('BEHALF_DATA_DIR');
    expect(names.filter((name) => !Object.keys(envVariables).includes(name))).toEqual([]);
  });

  test('is never given secrets or state', () => {
    const ignored = read('.dockerignore').split('\n');
    for (const entry of ['.env', '.env.*', 'librechat.yaml', 'data', '.git', '**/node_modules'])
      expect(ignored).toContain(entry);
  });
});

/** The Compose Specification's own schema (Apache-2.0), unchanged. It names its parts with `id`, which later drafts write `$id`; Compose never resolves by it. */
function composeValidator(): (file: unknown) => string[] {
  const { $schema: _draft, ...schema } = JSON.parse(
    read('test/fixtures/compose-spec.json'),
    (key, value: unknown) => (key === 'id' && typeof value === 'string' ? undefined : value),
  ) as Record<string, unknown>;
  const ajv = new Ajv2019({ strict: false, allErrors: true });
  ajv.addFormat('duration', /^(?:\d+(?:\.\d+)?(?:h|m|s|ms|us))+$/);
  for (const format of ['expose', 'ports', 'subnet_ip_address']) ajv.addFormat(format, true);
  const validate = ajv.compile(schema);
  return (file) =>
    validate(file)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
