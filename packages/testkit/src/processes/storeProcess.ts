import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The store that a child process opens. */
export type StoreSpec =
  | { kind: 'sqlite'; file: string }
  | { kind: 'mongo'; uri: string }
  | { kind: 'redis'; uri: string; prefix: string };

/** A real process with its own store client, controlled over IPC, that can be killed at any moment. */
export interface StoreProcess {
  /** Calls a port method such as `users.insert`. Rejects if the process ends first. */
  call(method: string, args: unknown[]): Promise<unknown>;
  /** The owner; null if another holder has the lease. */
  acquire(key: string, ttlMs: number): Promise<string | null>;
  release(key: string): Promise<boolean>;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
}

const loader = fileURLToPath(new URL('../../../../tools/ts-loader.mjs', import.meta.url));
const worker = fileURLToPath(new URL('./storeWorker.ts', import.meta.url));

export async function startStoreProcess(spec: StoreSpec): Promise<StoreProcess> {
  const child = fork(worker, [JSON.stringify(spec)], {
    execArgv: ['--import', loader],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const pendingCalls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let callCount = 0;
  child.on('message', (message: { id: number; value?: unknown; error?: string }) => {
    const call = pendingCalls.get(message.id);
    pendingCalls.delete(message.id);
    if (message.error === undefined) call?.resolve(message.value);
    else call?.reject(new Error(message.error));
  });
  const exited = once(child, 'exit');
  void exited.then(() => {
    for (const call of pendingCalls.values()) call.reject(new Error('The process has ended'));
    pendingCalls.clear();
  });

  const call = (method: string, args: unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      if (!child.connected) return reject(new Error('The process has ended'));
      const id = (callCount += 1);
      pendingCalls.set(id, { resolve, reject });
      child.send({ id, method, args }, (error) => error && reject(error));
    });

  await call('ping', []);
  return {
    call,
    acquire: async (key, ttlMs) => (await call('acquire', [key, ttlMs])) as string | null,
    release: async (key) => (await call('release', [key])) as boolean,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** A real process that only opens and closes a SQLite store. */
export interface OpeningProcess {
  /** Its output: `opening`, then `opened` or an error. */
  output(): string;
  /** The exit code; null while it runs. */
  code(): number | null;
  kill(): Promise<void>;
}

const openOnceLoader = fileURLToPath(new URL('../../../../tools/ts-loader.mjs', import.meta.url));
const openOnceWorker = fileURLToPath(new URL('./openOnce.ts', import.meta.url));

export function startOpeningProcess(file: string): OpeningProcess {
  const child = spawn(process.execPath, ['--no-warnings', '--import', openOnceLoader, openOnceWorker, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close');
  return {
    output: () => output,
    code: () => child.exitCode,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
