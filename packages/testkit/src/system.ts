import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, statSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe } from '@jest/globals';

/** A program that the machine may lack. `npm test` lists the suites that did not run for that reason. */
export type SystemProgram = 'redis-server' | 'chromium';

const programs: Record<SystemProgram, { resultVariable: string; overrideVariable?: string }> = {
  'redis-server': { resultVariable: 'BEHALF_TEST_REDIS' },
  chromium: { resultVariable: 'BEHALF_TEST_CHROMIUM', overrideVariable: 'CHROMIUM_PATH' },
};

export function findProgram(
  program: SystemProgram,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | null {
  const { resultVariable, overrideVariable } = programs[program];
  // `npm test` has searched already. Its summary and the suites must agree.
  const reported = env[resultVariable];
  if (reported !== undefined) return isExecutable(reported) ? reported : null;
  // An explicit path is used or reported missing. Another program in its place would hide a typing error.
  const override = overrideVariable === undefined ? undefined : env[overrideVariable];
  if (override) return isExecutable(override) ? override : null;
  const folders = (env['PATH'] ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, program)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A suite that needs a program. Without it, the suite is skipped and `npm test` reports it. */
export function describeWith(program: SystemProgram, name: string, body: () => void): void {
  (findProgram(program) === null ? describe.skip : describe)(name, body);
}

export interface RedisServer {
  readonly uri: string;
  /** Starts it again on the same port, empty. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Suspends it: connections stay open and nothing responds. */
  pause(): void;
  resume(): void;
}

/** A real Redis on a free loopback port, without persistence. */
export async function startRedisServer(): Promise<RedisServer> {
  const program = findProgram('redis-server');
  if (program === null) throw new Error('redis-server is not installed');
  const port = await freePort();
  let child: ChildProcess | null = null;

  const server: RedisServer = {
    uri: `redis://127.0.0.1:${port}`,
    async start() {
      const args = [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--save',
        '',
        '--appendonly',
        'no',
        '--dir',
        tmpdir(),
      ];
      child = spawn(program, args, { stdio: 'ignore' });
      await eventually('redis-server to listen', () => listens(port));
    },
    async stop() {
      if (!child) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      child = null;
      await ended;
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
  };
  await server.start();
  return server;
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Waits until an external condition holds, with a deadline and never a fixed sleep. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | false | null | undefined> | T | false | null | undefined,
  deadlineMs = 10_000,
): Promise<T> {
  const end = Date.now() + deadlineMs;
  for (;;) {
    const value = await probe();
    if (value !== false && value !== null && value !== undefined) return value;
    if (Date.now() > end) throw new Error(`Not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
