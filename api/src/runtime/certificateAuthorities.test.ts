import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from '@behalf/contracts';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuthority } from '../../../packages/egress/test/authority.ts';
import {
  InvalidConfigurationError,
  createConfiguration,
  readCertificateAuthorities,
} from './configuration.ts';

const quiet = { error: () => 0, warn: () => 0, info: () => 0, debug: () => 0 };

describe('a file with an authority', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'behalf-ca-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  const file = (name: string) => join(dir, name);

  /** Writes the configuration, and reads it as a start does. */
  async function configure(yaml: object) {
    await writeFile(file('librechat.yaml'), JSON.stringify(yaml));
    const record = { CONFIG_PATH: file('librechat.yaml'), CA_DIR: dir };
    const parsed = parseEnv(record);
    if (!parsed.ok) throw new Error('The environment must be valid');
    return createConfiguration({ env: parsed.env, record, logger: quiet });
  }

  const server = (caFile: string) => ({ type: 'streamable-http', url: 'https://a.example/mcp', caFile });
  const provider = (caFile: string) => ({
    ...{ type: 'jwt-bearer', tokenEndpoint: 'https://idp.example/token' },
    ...{ clientId: 'c', clientSecret: 's', caFile },
  });

  test('that is missing or holds none stops the start, with its place', async () => {
    const { ca } = await createAuthority();
    const { key } = await (await createAuthority()).issue('a.example');
    await writeFile(file('good.pem'), ca);
    await writeFile(file('key.pem'), key);
    await writeFile(file('text.pem'), 'no certificate here');
    await writeFile(file('damaged.pem'), `${ca}\n${ca.replace(/M[A-Z]{2}/, 'AAA')}`);
    for (const [name, reason] of [
      ['gone.pem', 'ENOENT'],
      ['.', 'EISDIR'],
      ['key.pem', 'without a PEM certificate'],
      ['text.pem', 'without a PEM certificate'],
      ['damaged.pem', 'malformed certificate'],
    ] as const) {
      for (const [place, yaml] of [
        ['mcpServers.a.caFile', { mcpServers: { a: server(file(name)) } }],
        ['identityProviders.p.caFile', { identityProviders: { p: provider(file(name)) } }],
      ] as const) {
        const error: unknown = await configure(yaml).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(InvalidConfigurationError);
        expect((error as Error).message).toContain(place);
        expect((error as Error).message).toContain(reason);
      }
    }
    await configure({ mcpServers: { a: server(file('good.pem')) } });
  });

  test('that is spoilt at a reload changes nothing of what runs', async () => {
    const { ca } = await createAuthority();
    await writeFile(file('ca.pem'), ca);
    const configuration = await configure({ mcpServers: { a: server('${CA_DIR}/ca.pem') } });
    const running = configuration.current();
    let changes = 0;
    configuration.onChange(() => (changes += 1));
    await writeFile(file('ca.pem'), '');
    expect(configuration.reload()).toMatchObject({
      ok: false,
      diagnostics: [{ path: 'mcpServers.a.caFile', code: 'no_certificate', line: 1 }],
    });
    expect([configuration.current(), changes]).toEqual([running, 0]);
    await writeFile(file('ca.pem'), ca);
    expect([configuration.reload(), changes]).toEqual([{ ok: true }, 1]);
  });

  test('gives its certificates and nothing else that lies in it', async () => {
    const [first, second] = [await createAuthority(), await createAuthority()];
    const { key } = await first.issue('a.example');
    await writeFile(file('both.pem'), `# ours\n${first.ca}\n${key}\n${second.ca}\n`);
    const configuration = await configure({
      mcpServers: { a: server(file('both.pem')), b: server(file('both.pem')) },
      identityProviders: { p: provider(file('both.pem')) },
    });
    const { authorities, problems } = readCertificateAuthorities(configuration.current());
    expect([[...authorities], problems]).toEqual([[[file('both.pem'), `${first.ca}\n${second.ca}`]], []]);
  });

  test('a provider whose address nobody could ask is refused with its place', async () => {
    for (const key of ['issuer', 'authority', 'tokenEndpoint']) {
      const identityProviders = {
        p: { type: 'entra', clientId: 'c', clientSecret: 's', [key]: 'https://a..b/' },
      };
      await expect(configure({ identityProviders })).rejects.toThrow(`identityProviders.p.${key}`);
    }
  });
});
