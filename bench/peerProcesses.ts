import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { root, type Processes } from './processes.ts';
import { openSession, rpcCall, untilGood } from './stage.ts';
import type { LoadRequest } from './loadJob.ts';

const installed = (path: string) => join(root, 'bench/peers/node_modules', path);
const hubMain = installed('mcp-hub/dist/cli.js');
const fiberplaneMain = installed('@fiberplane/mcp-gateway/bin/mcp-gateway.js');

/** Without them the comparison would silently have a hole. */
export function requirePeers(): void {
  for (const file of [hubMain, fiberplaneMain]) {
    if (existsSync(file)) continue;
    throw new Error(
      'The gateways to compare with are not installed. Run `npm ci --prefix bench/peers` first.',
    );
  }
}

/** One call of the tool `echo` of their server `bench`, in the way that each of them has. */
export function hubCall(args: object): LoadRequest {
  const body = JSON.stringify({ server_name: 'bench', tool: 'echo', arguments: args });
  return { path: '/api/servers/tools', headers: {}, body };
}

export async function fiberplaneCall(port: number, args: object): Promise<LoadRequest> {
  const path = '/s/bench/mcp';
  return { path, headers: await openSession(`http://127.0.0.1:${port}${path}`), body: rpcCall('echo', args) };
}

export async function startHub(processes: Processes, dir: string, url: string, { PATH }: NodeJS.ProcessEnv) {
  const port = await freePort();
  const config = join(dir, 'hub.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { bench: { url } } }));
  // A fresh copy of its marketplace: otherwise it would go out to the internet for one.
  mkdirSync(join(dir, 'mcp-hub/cache'), { recursive: true });
  const registry = { servers: [{ id: 'none', name: 'none' }] };
  const cache = { registry, lastFetchedAt: Date.now(), serverDocumentation: {} };
  writeFileSync(join(dir, 'mcp-hub/cache/registry.json'), JSON.stringify(cache));
  const entry = await processes.command(
    [process.execPath, hubMain, '--port', String(port), '--config', config],
    {
      cwd: dir,
      env: { PATH, HOME: dir, XDG_STATE_HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
      ready: (output) => /(1)\/1 servers started/.exec(output)?.[1],
    },
  );
  return { pid: entry.pid, port };
}

export async function startFiberplane(
  processes: Processes,
  dir: string,
  url: string,
  { PATH }: NodeJS.ProcessEnv,
) {
  const port = await freePort();
  const storage = join(dir, 'fiberplane');
  mkdirSync(storage);
  writeFileSync(
    join(storage, 'mcp.json'),
    JSON.stringify({ mcpServers: { bench: { type: 'http', url, headers: {} } } }),
  );
  const entry = await processes.command(
    [process.execPath, fiberplaneMain, '--port', String(port), '--storage-dir', storage],
    { cwd: dir, env: { PATH, HOME: dir }, ready: (output) => /(server started)/.exec(output)?.[1] },
  );
  await untilGood('the Fiberplane gateway serves', async () => {
    await openSession(`http://127.0.0.1:${port}/s/bench/mcp`);
    return true;
  });
  return { pid: entry.pid, port };
}

/** These gateways want to be told a port; the system knows a free one. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
