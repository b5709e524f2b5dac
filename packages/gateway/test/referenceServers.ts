import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '@behalf/testkit';
import type { StdioTarget } from '../src/upstream/target.ts';

const { resolve } = createRequire(import.meta.url);
const v1Script = fileURLToPath(new URL('../../testkit/fixtures/v1Server.mjs', import.meta.url));
const everythingScript = resolve('@modelcontextprotocol/server-everything/dist/index.js');

const nodeTarget = (args: readonly string[], env: Record<string, string> = {}): StdioTarget => ({
  type: 'stdio',
  command: process.execPath,
  args,
  env,
  cwd: undefined,
  stderr: 'pipe',
});

export const createEverythingTarget = () =>
  nodeTarget([everythingScript, 'stdio'], { GZIP_ALLOWED_DOMAINS: 'invalid' });
export const createFilesystemTarget = (folder: string) =>
  nodeTarget([resolve('@modelcontextprotocol/server-filesystem/dist/index.js'), folder]);
export const createMemoryTarget = (file: string) =>
  nodeTarget([resolve('@modelcontextprotocol/server-memory/dist/index.js')], { MEMORY_FILE_PATH: file });
export const createV1Target = () => nodeTarget([v1Script, 'stdio']);

/** A server of its own process that listens on loopback. */
export interface ListeningServer {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

export async function startEverythingSse(): Promise<ListeningServer> {
  const port = await freePort();
  const env = { PORT: String(port), GZIP_ALLOWED_DOMAINS: 'invalid' };
  const child = spawn(process.execPath, [everythingScript, 'sse'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await waitForOutput(child, /running on port/);
  return waitUntilListening(child, port, '/sse');
}

export async function startV1Sse(): Promise<ListeningServer> {
  const child = spawn(process.execPath, [v1Script, 'sse'], { env: {}, stdio: ['ignore', 'ignore', 'pipe'] });
  const [, port] = await waitForOutput(child, /listening (\d+)/);
  return waitUntilListening(child, Number(port), '/');
}

function waitUntilListening(child: ChildProcess, port: number, path: string): ListeningServer {
  return {
    port,
    url: `http://127.0.0.1:${port}${path}`,
    async close() {
      const exit = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** Waits until the child has written this to stderr. */
function waitForOutput(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('exit', () => reject(new Error(`The server ended: ${text}`)));
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const match = pattern.exec(text);
      if (match) resolve(match);
    });
  });
}
