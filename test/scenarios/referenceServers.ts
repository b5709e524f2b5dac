import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { eventually, freePort } from '@behalf/testkit';
import { everythingScript } from './scriptedYaml.ts';

const { resolve } = createRequire(import.meta.url);
export const filesystemScript = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
export const memoryScript = resolve('@modelcontextprotocol/server-memory/dist/index.js');

export interface ReferenceServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** The reference server over HTTP, in a process of its own. */
export async function startEverything(transport: 'sse' | 'streamableHttp'): Promise<ReferenceServer> {
  const port = await freePort();
  const child = spawn(process.execPath, [everythingScript, transport], {
    env: { PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const path = transport === 'sse' ? 'sse' : 'mcp';
  const url = `http://127.0.0.1:${port}/${path}`;
  await eventually(`the reference server over ${transport}`, async () => {
    if (child.exitCode !== null) throw new Error(output);
    try {
      const response = await fetch(url, { method: 'OPTIONS' });
      await response.body?.cancel();
      return true;
    } catch {
      return false;
    }
  });
  return { url, stop: () => stopProcess(child) };
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
