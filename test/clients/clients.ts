import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { root } from '../conformance/suite.ts';

/** How a client comes in. */
export interface Entrance {
  readonly url: string;
  /** Arguments with which it presents what it has. */
  readonly given: readonly string[];
  /** For one that has nothing: its user reads what it says, and signs in. */
  readonly accompany?: (said: Readable) => void;
}

const installed = (file: string) => join(root, 'test/clients/node_modules', file);
const inspector = installed('.bin/mcp-inspector');
const remote = installed('.bin/mcp-remote');
const LIMIT_MS = 60_000;

/** Nothing is on the path: whoever wants to open a browser finds none, and prints the address for its user. */
const envAt = (home: string) => ({
  ...{ PATH: home, HOME: home, MCP_REMOTE_CONFIG_DIR: home },
  // Without a terminal the Inspector signs nobody in unless it may try a browser.
  MCP_AUTO_OPEN_ENABLED: 'true',
  // Its tokens go to that home as well, and not to the keychain of whoever runs this.
  MCP_INSPECTOR_SECRET_STORE: 'file',
});

export async function withInspector(
  era: 'legacy' | 'modern',
  home: string,
  { url, given, accompany }: Entrance,
): Promise<void> {
  const ask = async (...method: string[]) => {
    const args = [inspector, '--cli', url, '--transport', 'http', ...given, '--protocol-era', era];
    const child = spawn(process.execPath, [...args, '--method', ...method], {
      ...{ env: envAt(home), cwd: home, timeout: LIMIT_MS },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    accompany?.(child.stderr);
    const [said, complaint, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    if (code !== 0) throw new Error(`It ended with ${code}: ${complaint.slice(-2_000)}`);
    return said;
  };
  expectIn(await ask('tools/list'), 'everything__echo');
  const call = ['tools/call', '--tool-name', 'everything__echo', '--tool-arg', 'message=hello'];
  expectIn(await ask(...call), 'hello');
}

export async function withRemote(home: string, { url, given, accompany }: Entrance): Promise<void> {
  const client = new Client({ name: 'clients', version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [remote, url, '--allow-http', '--transport', 'http-only', ...given],
    env: envAt(home),
    cwd: home,
    stderr: accompany ? 'pipe' : 'ignore',
  });
  if (transport.stderr instanceof Readable) accompany?.(transport.stderr);
  await client.connect(transport, { timeout: LIMIT_MS });
  try {
    expectIn(JSON.stringify(await client.listTools()), 'everything__echo');
    const called = await client.callTool({ name: 'everything__echo', arguments: { message: 'hello' } });
    expectIn(JSON.stringify(called), 'hello');
  } finally {
    await client.close();
  }
}

function expectIn(said: string, wanted: string): void {
  if (!said.includes(wanted)) throw new Error(`There is no ${wanted} in ${said.slice(0, 500)}`);
}

export function versionOf(name: string): string {
  return (createRequire(import.meta.url)(installed(`${name}/package.json`)) as { version: string }).version;
}
