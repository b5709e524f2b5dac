import { accessSync, constants } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Processes } from './processes.ts';

/** Fails early if Redis is missing. */
export function requireRedis(environment: NodeJS.ProcessEnv): string {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter(Boolean);
  const executable = folders.map((folder) => join(folder, 'redis-server')).find(isExecutable);
  if (executable === undefined)
    throw new Error('redis-server is not installed, which the parts "obo" and "storm" need');
  return executable;
}

/** Starts Redis on a free loopback port without persistence and returns its URL. */
export async function startRedis(processes: Processes, environment: NodeJS.ProcessEnv): Promise<string> {
  const port = String(await freePort());
  const persistence = ['--save', '', '--appendonly', 'no'];
  await processes.startCommand(
    [requireRedis(environment), '--port', port, '--bind', '127.0.0.1', ...persistence, '--dir', tmpdir()],
    {
      cwd: tmpdir(),
      env: {},
      parseReady: (output) => /Ready to accept connections/.exec(output)?.[0],
    },
  );
  return `redis://127.0.0.1:${port}`;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probeServer = createServer().once('error', reject);
    probeServer.listen(0, '127.0.0.1', () => {
      const { port } = probeServer.address() as AddressInfo;
      probeServer.close(() => resolve(port));
    });
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
