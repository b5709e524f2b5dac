import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { repositoryRoot } from '../conformance/suite.ts';

/** How a client comes in. */
export interface ClientEndpoint {
  readonly url: string;
  /** Arguments with which it presents what it has. */
  readonly extraArgs: readonly string[];
  /** For one that has nothing: its user reads what it says, and signs in. */
  readonly onOutput?: (output: Readable) => void;
}

const installedPath = (file: string) => join(repositoryRoot, 'test/clients/node_modules', file);
const inspectorPath = installedPath('.bin/mcp-inspector');
const remotePath = installedPath('.bin/mcp-remote');
const CLIENT_TIMEOUT_MS = 60_000;

/** Nothing is on the path: whoever wants to open a browser finds none, and prints the address for its user. */
const createEnv = (home: string) => ({
  ...{ PATH: home, HOME: home, MCP_REMOTE_CONFIG_DIR: home },
  // Without a terminal the Inspector signs nobody in unless it may try a browser.
  MCP_AUTO_OPEN_ENABLED: 'true',
  // Its tokens go to that home as well, and not to the keychain of whoever runs this.
  MCP_INSPECTOR_SECRET_STORE: 'file',
});

export async function checkInspector(
  era: 'legacy' | 'modern',
  home: string,
  { url, extraArgs, onOutput }: ClientEndpoint,
): Promise<void> {
  const runMethod = async (...method: string[]) => {
    const args = [inspectorPath, '--cli', url, '--transport', 'http', ...extraArgs, '--protocol-era', era];
    const child = spawn(process.execPath, [...args, '--method', ...method], {
      ...{ env: createEnv(home), cwd: home, timeout: CLIENT_TIMEOUT_MS },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onOutput?.(child.stderr);
    const [output, errorOutput, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    if (code !== 0) throw new Error(`It ended with ${code}: ${errorOutput.slice(-2_000)}`);
    return output;
  };
  expectContains(await runMethod('tools/list'), 'everything__echo');
  const callArgs = ['tools/call', '--tool-name', 'everything__echo', '--tool-arg', 'message=hello'];
  expectContains(await runMethod(...callArgs), 'hello');
}

export async function checkRemote(home: string, { url, extraArgs, onOutput }: ClientEndpoint): Promise<void> {
  const client = new Client({ name: 'clients', version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [remotePath, url, '--allow-http', '--transport', 'http-only', ...extraArgs],
    env: createEnv(home),
    cwd: home,
    stderr: onOutput ? 'pipe' : 'ignore',
  });
  if (transport.stderr instanceof Readable) onOutput?.(transport.stderr);
  await client.connect(transport, { timeout: CLIENT_TIMEOUT_MS });
  try {
    expectContains(JSON.stringify(await client.listTools()), 'everything__echo');
    const result = await client.callTool({ name: 'everything__echo', arguments: { message: 'hello' } });
    expectContains(JSON.stringify(result), 'hello');
  } finally {
    await client.close();
  }
}

function expectContains(output: string, expectedText: string): void {
  if (!output.includes(expectedText))
    throw new Error(`There is no ${expectedText} in ${output.slice(0, 500)}`);
}

export function readVersion(name: string): string {
  return (createRequire(import.meta.url)(installedPath(`${name}/package.json`)) as { version: string })
    .version;
}
