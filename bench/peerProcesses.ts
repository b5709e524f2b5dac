import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { repositoryRoot, type Processes } from './processes.ts';
import { openSession, createRpcCall, waitUntil } from './rig.ts';
import type { LoadRequest } from './loadJob.ts';

const installedPath = (path: string) => join(repositoryRoot, 'bench/peers/node_modules', path);
const hubEntryPoint = installedPath('mcp-hub/dist/cli.js');
const fiberplaneEntryPoint = installedPath('@fiberplane/mcp-gateway/bin/mcp-gateway.js');

/** Fails early if the gateways to compare with are not installed. */
export function requirePeers(): void {
  for (const file of [hubEntryPoint, fiberplaneEntryPoint]) {
    if (existsSync(file)) continue;
    throw new Error(
      'The gateways to compare with are not installed. Run `npm ci --prefix bench/peers` first.',
    );
  }
}

/** A call of the tool `echo` of the server `bench`, in the form of each gateway. */
export function createHubCall(args: object): LoadRequest {
  const body = JSON.stringify({ server_name: 'bench', tool: 'echo', arguments: args });
  return { path: '/api/servers/tools', headers: {}, body };
}

export async function createFiberplaneCall(port: number, args: object): Promise<LoadRequest> {
  const path = '/s/bench/mcp';
  return {
    path,
    headers: await openSession(`http://127.0.0.1:${port}${path}`),
    body: createRpcCall('echo', args),
  };
}

export async function startHub(
  processes: Processes,
  directory: string,
  url: string,
  { PATH }: NodeJS.ProcessEnv,
) {
  const port = await freePort();
  const config = join(directory, 'hub.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { bench: { url } } }));
  // A fresh copy of its marketplace, which it would otherwise download.
  mkdirSync(join(directory, 'mcp-hub/cache'), { recursive: true });
  const registry = { servers: [{ id: 'none', name: 'none' }] };
  const cache = { registry, lastFetchedAt: Date.now(), serverDocumentation: {} };
  writeFileSync(join(directory, 'mcp-hub/cache/registry.json'), JSON.stringify(cache));
  const running = await processes.startCommand(
    [process.execPath, hubEntryPoint, '--port', String(port), '--config', config],
    {
      cwd: directory,
      env: {
        PATH,
        HOME: directory,
        XDG_STATE_HOME: directory,
        XDG_DATA_HOME: directory,
        XDG_CONFIG_HOME: directory,
      },
      parseReady: (output) => /(1)\/1 servers started/.exec(output)?.[1],
    },
  );
  return { pid: running.pid, port };
}

export async function startFiberplane(
  processes: Processes,
  directory: string,
  url: string,
  { PATH }: NodeJS.ProcessEnv,
) {
  const port = await freePort();
  const storage = join(directory, 'fiberplane');
  mkdirSync(storage);
  writeFileSync(
    join(storage, 'mcp.json'),
    JSON.stringify({ mcpServers: { bench: { type: 'http', url, headers: {} } } }),
  );
  const running = await processes.startCommand(
    [process.execPath, fiberplaneEntryPoint, '--port', String(port), '--storage-dir', storage],
    {
      cwd: directory,
      env: { PATH, HOME: directory },
      parseReady: (output) => /(server started)/.exec(output)?.[1],
    },
  );
  await waitUntil('the Fiberplane gateway serves', async () => {
    await openSession(`http://127.0.0.1:${port}/s/bench/mcp`);
    return true;
  });
  return { pid: running.pid, port };
}

/** These gateways require an explicit port, so a free one is selected. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
