import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFirstLine } from './childOutput.ts';
import { repositoryRoot } from './suite.ts';

/** A server as an operator would define it. */
export interface ServerDefinition {
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
  mcpServers: Readonly<Record<string, ServerDefinition>>,
  variables: Readonly<Record<string, string>> = {},
): Promise<SpawnedGateway> {
  const directory = await mkdtemp(join(tmpdir(), 'behalf-conformance-'));
  const operatorAddresses = Object.values(mcpServers).flatMap(({ url }) =>
    url === undefined ? [] : [new URL(url).host],
  );
  await writeFile(
    join(directory, 'librechat.yaml'),
    JSON.stringify({ mcpSettings: { operatorAddresses }, mcpServers }),
  );
  const gateway = spawn(
    process.execPath,
    [
      '--no-warnings',
      '--import',
      join(repositoryRoot, 'tools/ts-loader.mjs'),
      join(repositoryRoot, 'api/src/main.ts'),
    ],
    {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', PORT: '0', RATE_LIMIT_CALLS: '100000', ...variables },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const close = async () => {
    if (gateway.exitCode === null) {
      gateway.kill();
      await once(gateway, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const outputLines: string[] = [];
    const listeningLine = await readFirstLine(gateway, (line) => {
      outputLines.push(line);
      return line.includes('is listening on');
    });
    return {
      port: Number(/"port":(\d+)/.exec(listeningLine)?.[1]),
      setupToken: /\/setup\?token=(\S+)/.exec(outputLines.join('\n'))?.[1] ?? '',
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
