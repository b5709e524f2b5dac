import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstLine } from './children.ts';
import { root } from './suite.ts';

/** A server as an operator would define it. */
export interface Definition {
  readonly url?: string;
  readonly [field: string]: unknown;
}

export interface SpawnedGateway {
  readonly port: number;
  /** Of the link by which the first administrator comes in; empty without one. */
  readonly setupToken: string;
  close(): Promise<void>;
}

/** A gateway in a process and a directory of its own, once it listens. */
export async function spawnGateway(
  mcpServers: Readonly<Record<string, Definition>>,
  variables: Readonly<Record<string, string>> = {},
): Promise<SpawnedGateway> {
  const dir = await mkdtemp(join(tmpdir(), 'behalf-conformance-'));
  const operatorAddresses = Object.values(mcpServers).flatMap(({ url }) =>
    url === undefined ? [] : [new URL(url).host],
  );
  await writeFile(
    join(dir, 'librechat.yaml'),
    JSON.stringify({ mcpSettings: { operatorAddresses }, mcpServers }),
  );
  const gateway = spawn(
    process.execPath,
    ['--no-warnings', '--import', join(root, 'tools/ts-loader.mjs'), join(root, 'api/src/main.ts')],
    {
      cwd: dir,
      env: { PATH: process.env['PATH'] ?? '', PORT: '0', RATE_LIMIT_CALLS: '100000', ...variables },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const close = async () => {
    if (gateway.exitCode === null) {
      gateway.kill();
      await once(gateway, 'exit');
    }
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const said: string[] = [];
    const listening = await firstLine(gateway, (line) => {
      said.push(line);
      return line.includes('is listening on');
    });
    return {
      port: Number(/"port":(\d+)/.exec(listening)?.[1]),
      setupToken: /\/setup\?token=(\S+)/.exec(said.join('\n'))?.[1] ?? '',
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
