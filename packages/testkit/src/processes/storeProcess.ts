import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Which store a child process opens. */
export type StoreSpec =
  | { kind: 'sqlite'; file: string }
  | { kind: 'mongo'; uri: string }
  | { kind: 'redis'; uri: string; prefix: string };

/** A real process with a store of its own, driven over IPC and killable at any moment. */
export interface StoreProcess {
  /** Calls a port method such as `users.insert`; rejects when the process dies first. */
  call(method: string, args: unknown[]): Promise<unknown>;
  /** The owner, or null when somebody else holds the lease. */
  acquire(key: string, ttlMs: number): Promise<string | null>;
  release(key: string): Promise<boolean>;
  /** SIGKILL, and gone when it resolves. */
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

/** A real process that does nothing but open a SQLite store and close it again. */
export interface OpeningProcess {
  /** What it said so far: `opening`, then `opened` or an error. */
  output(): string;
  /** The exit code, null while it runs. */
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
