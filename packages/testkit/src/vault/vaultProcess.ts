import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { VaultCommands, VaultSpec } from './vaultSpec.ts';

/** A real process with its own vault, controlled over IPC, that can be suspended and killed at any moment. */
export interface VaultProcess extends VaultCommands {
  readonly pid: number;
  /** SIGSTOP: suspends the process with everything it holds. */
  freeze(): void;
  thaw(): void;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
  /** Sends SIGTERM. Resolves with the exit code. */
  terminate(): Promise<number | null>;
  /** All output since it was opened. */
  output(): string;
}

/** A process that has loaded all code and can host several vaults in sequence. */
interface IdleProcess {
  ready(): Promise<unknown>;
  open(spec: VaultSpec): Promise<VaultProcess>;
  /** False if the vault did not close in time and the process was killed. */
  reset(): Promise<boolean>;
  kill(): Promise<void>;
}

const loader = fileURLToPath(new URL('../../../../tools/ts-loader.mjs', import.meta.url));
const worker = fileURLToPath(new URL('./vaultWorker.ts', import.meta.url));
const RESET_TIMEOUT_MS = 3_000;

const commandNames: readonly (keyof VaultCommands)[] = [
  'commit',
  'calls',
  'token',
  'status',
  'holdSends',
  'releaseSends',
  'heldSends',
  'failSaves',
  'setAhead',
];

function startIdleProcess(): IdleProcess {
  const child = fork(worker, {
    execArgv: ['--no-warnings', '--import', loader],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const pendingCalls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let callCount = 0;
  child.on('message', (message: { id: number; value?: unknown; error?: string }) => {
    const call = pendingCalls.get(message.id);
    pendingCalls.delete(message.id);
    if (message.error === undefined) call?.resolve(message.value);
    else call?.reject(new Error(message.error));
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  void exited.then(() => {
    for (const call of pendingCalls.values()) call.reject(new Error(`The process has ended: ${output}`));
    pendingCalls.clear();
  });

  const send = (order: string, ...args: readonly unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      if (!child.connected) return reject(new Error(`The process has ended: ${output}`));
      const id = (callCount += 1);
      pendingCalls.set(id, { resolve, reject });
      child.send({ id, order, args }, (error) => error && reject(error));
    });

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await exited;
  }

  return {
    ready: () => send('ready'),
    async open(spec) {
      output = '';
      await send('open', spec);
      const commands = Object.fromEntries(
        commandNames.map((order) => [order, (...args: unknown[]) => send(order, ...args)]),
      ) as unknown as VaultCommands;
      return {
        ...commands,
        pid: child.pid ?? 0,
        freeze: () => void child.kill('SIGSTOP'),
        thaw: () => void child.kill('SIGCONT'),
        kill,
        async terminate() {
          child.kill('SIGTERM');
          const [code] = await exited;
          return code;
        },
        output: () => output,
      };
    },
    async reset() {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<false>((resolve) => {
        timer = setTimeout(() => resolve(false), RESET_TIMEOUT_MS);
      });
      const isReset = await Promise.race([
        send('shut').then(
          () => true,
          () => false,
        ),
        timeout,
      ]);
      clearTimeout(timer);
      if (!isReset) await kill();
      return isReset;
    },
    kill,
  };
}

/** Processes that several tests share, because loading the code takes longer than most tests. */
export interface VaultPool {
  /** Starts this many processes in advance and waits until they are ready. */
  prepare(count: number): Promise<void>;
  open(spec: VaultSpec): Promise<VaultProcess>;
  /** Closes the vault of a process. A process that died or does not close is not reused. */
  release(process: VaultProcess): Promise<void>;
  close(): Promise<void>;
}

export function createVaultPool(): VaultPool {
  const idle: IdleProcess[] = [];
  const busy = new Map<VaultProcess, IdleProcess>();
  return {
    async prepare(count) {
      const started = Array.from({ length: count }, () => startIdleProcess());
      idle.push(...started);
      await Promise.all(started.map((each) => each.ready()));
    },
    async open(spec) {
      const idleProcess = idle.pop() ?? startIdleProcess();
      const process = await idleProcess.open(spec);
      busy.set(process, idleProcess);
      return process;
    },
    async release(process) {
      const idleProcess = busy.get(process);
      busy.delete(process);
      // A suspended process must run in order to receive the message.
      process.thaw();
      // Starts another process, which loads while the test continues.
      if (idleProcess) idle.unshift((await idleProcess.reset()) ? idleProcess : startIdleProcess());
    },
    async close() {
      await Promise.all([...idle.splice(0), ...busy.values()].map((each) => each.kill()));
      busy.clear();
    },
  };
}
