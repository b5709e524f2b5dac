import { accessSync, constants } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Processes } from './processes.ts';

/** Said before anything is measured. */
export function requireRedis(environment: NodeJS.ProcessEnv): string {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter(Boolean);
  const found = folders.map((folder) => join(folder, 'redis-server')).find(isExecutable);
  if (found === undefined)
    throw new Error('redis-server is not installed, which the parts "obo" and "storm" need');
  return found;
}

/** A Redis on a loopback port of its own that keeps nothing. Gives its address. */
export async function startRedis(processes: Processes, environment: NodeJS.ProcessEnv): Promise<string> {
  const port = String(await freePort());
  const persistence = ['--save', '', '--appendonly', 'no'];
  await processes.command(
    [requireRedis(environment), '--port', port, '--bind', '127.0.0.1', ...persistence, '--dir', tmpdir()],
    {
      cwd: tmpdir(),
      env: {},
      ready: (output) => /Ready to accept connections/.exec(output)?.[0],
    },
  );
  return `redis://127.0.0.1:${port}`;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
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
