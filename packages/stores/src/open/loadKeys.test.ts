import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemRandom } from '@behalf/kernel';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadKeys } from './loadKeys.ts';

const hex = (keys: readonly Uint8Array[]) => keys.map((key) => Buffer.from(key).toString('hex'));

describe('the sealing keys', () => {
  let root = '';
  let dataDir = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'behalf-keys-'));
    dataDir = join(root, 'data');
  });
  afterEach(() => rm(root, { recursive: true, force: true }));
  const load = (configured?: readonly string[]) => loadKeys({ configured, dataDir, random: systemRandom });

  test('one is made at the first start and kept', async () => {
    const made = load();
    expect(made).toHaveLength(1);
    expect(made[0]).toHaveLength(32);
    expect(hex(load())).toEqual(hex(made));
    expect(await readFile(join(dataDir, 'creds.key'), 'utf8')).toBe(`${hex(made)[0]}\n`);
    expect(await readdir(dataDir)).toEqual(['creds.key']);
  });

  test('the operator’s keys are used as they stand, and no file is made', async () => {
    const keys = ['a'.repeat(64), '0B'.repeat(32)];
    expect(hex(load(keys))).toEqual(keys.map((key) => key.toLowerCase()));
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    // Set and empty is as good as not set.
    expect(load([])).toHaveLength(1);
  });

  test('the file is readable by its owner alone, and made so again', async () => {
    const old = process.umask(0);
    try {
      load();
    } finally {
      process.umask(old);
    }
    const modeOf = async (file: string) => (await stat(file)).mode & 0o777;
    expect(await modeOf(join(dataDir, 'creds.key'))).toBe(0o600);
    expect(await modeOf(dataDir)).toBe(0o700);
    await chmod(join(dataDir, 'creds.key'), 0o644);
    load();
    expect(await modeOf(join(dataDir, 'creds.key'))).toBe(0o600);
  });

  test('a damaged file stops the start and is left as it is', async () => {
    load();
    const file = join(dataDir, 'creds.key');
    for (const text of ['', 'short', 'g'.repeat(64), 'a'.repeat(63), `${'a'.repeat(64)} ${'b'.repeat(64)}`]) {
      await writeFile(file, text);
      expect(() => load()).toThrow(/does not hold 64 hex characters\. Restore it/);
      expect(await readFile(file, 'utf8')).toBe(text);
    }
  });

  test('who loses the race takes the winner’s key', async () => {
    // Another start wins between the look for a key and the making of one.
    let winner: string[] = [];
    const late = {
      ...systemRandom,
      bytes(length: number) {
        if (winner.length === 0) winner = hex(load());
        return systemRandom.bytes(length);
      },
    };
    const lost = loadKeys({ configured: undefined, dataDir, random: late });
    expect(hex(lost)).toEqual(winner);
    expect(hex(load())).toEqual(winner);
    expect(await readdir(dataDir)).toEqual(['creds.key']);
  });

  test('processes that start at once all have one key', async () => {
    const loader = fileURLToPath(new URL('../../../../tools/ts-loader.mjs', import.meta.url));
    const script = `
        const { loadKeys } = await import(${JSON.stringify(new URL('./loadKeys.ts', import.meta.url).href)});
        const { systemRandom } = await import('@behalf/kernel');
        process.stdout.write('ready\\n');
        process.stdin.once('data', () => {
          const [key] = loadKeys({ configured: undefined, dataDir: ${JSON.stringify(dataDir)}, random: systemRandom });
          process.stdout.write(Buffer.from(key).toString('hex') + '\\n', () => process.exit(0));
        });`;
    const children = Array.from({ length: 4 }, () => {
      const child = spawn(process.execPath, ['--import', loader, '--input-type=module', '-e', script], {
        cwd: fileURLToPath(new URL('../../', import.meta.url)),
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
      return { child, ready: once(child.stdout, 'data'), ended: once(child, 'close'), said: () => said };
    });
    await Promise.all(children.map(({ ready }) => ready));
    for (const { child } of children) child.stdin.write('go\n');
    await Promise.all(children.map(({ ended }) => ended));
    const keys = new Set(children.map(({ said }) => said().split('\n')[1]));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[0-9a-f]{64}$/);
  }, 40_000);
});
