import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { startBehindGateway } from '../conformance/behindGateway.ts';
import { root } from '../conformance/suite.ts';

const installed = (file: string) => join(root, 'test/clients/node_modules', file);
const inspector = installed('.bin/mcp-inspector');
const remote = installed('.bin/mcp-remote');
const run = promisify(execFile);
const LIMIT_MS = 60_000;

/** Each lists the tools of the reference server through the gateway, and calls one. Whether all of them could. */
export async function runClients(): Promise<boolean> {
  const script = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  );
  const gateway = await startBehindGateway({
    everything: { command: process.execPath, args: [script, 'stdio'] },
  });
  const home = await mkdtemp(join(tmpdir(), 'behalf-clients-'));
  const header = `Authorization: Bearer ${gateway.key}`;
  // What they keep of an earlier run must not help them.
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, MCP_REMOTE_CONFIG_DIR: home };
  const url = gateway.gatewayUrl('/mcp');

  async function withInspector(era: 'legacy' | 'modern'): Promise<void> {
    const ask = async (...method: string[]) => {
      const given = ['--cli', url, '--transport', 'http', '--header', header, '--protocol-era', era];
      const { stdout } = await run(process.execPath, [inspector, ...given, '--method', ...method], {
        ...{ env, cwd: home, timeout: LIMIT_MS },
      });
      return stdout;
    };
    expectIn(await ask('tools/list'), 'everything__echo');
    const call = ['tools/call', '--tool-name', 'everything__echo', '--tool-arg', 'message=hello'];
    expectIn(await ask(...call), 'hello');
  }

  async function withRemote(): Promise<void> {
    const client = new Client({ name: 'clients', version: '1.0.0' });
    const args = [remote, url, '--allow-http', '--transport', 'http-only', '--header', header];
    const transport = new StdioClientTransport({
      command: process.execPath,
      args,
      env,
      cwd: home,
      stderr: 'ignore',
    });
    await client.connect(transport, { timeout: LIMIT_MS });
    try {
      expectIn(JSON.stringify(await client.listTools()), 'everything__echo');
      const called = await client.callTool({ name: 'everything__echo', arguments: { message: 'hello' } });
      expectIn(JSON.stringify(called), 'hello');
    } finally {
      await client.close();
    }
  }

  const clients: Record<string, () => Promise<void>> = {
    [`Inspector ${versionOf('@modelcontextprotocol/inspector')}, legacy`]: () => withInspector('legacy'),
    [`Inspector ${versionOf('@modelcontextprotocol/inspector')}, modern`]: () => withInspector('modern'),
    [`mcp-remote ${versionOf('mcp-remote')}`]: withRemote,
  };
  let passed = true;
  try {
    for (const [name, work] of Object.entries(clients)) {
      const failure = await work().then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      passed &&= failure === null;
      process.stdout.write(
        failure === null ? `✓ ${name}\n` : `✗ ${name}: ${failure.replaceAll(gateway.key, '…')}\n`,
      );
    }
  } finally {
    await gateway.close();
    await rm(home, { recursive: true, force: true });
  }
  return passed;
}

function expectIn(text: string, wanted: string): void {
  if (!text.includes(wanted)) throw new Error(`There is no ${wanted} in ${text.slice(0, 500)}`);
}

function versionOf(name: string): string {
  return (createRequire(import.meta.url)(installed(`${name}/package.json`)) as { version: string }).version;
}
