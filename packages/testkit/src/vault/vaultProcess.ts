import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { VaultOrders, VaultSpec } from './vaultSpec.ts';

/** A real process with a vault of its own, driven over IPC: it can be frozen and killed at any moment. */
export interface VaultProcess extends VaultOrders {
  readonly pid: number;
  /** SIGSTOP: it holds whatever it holds, and does nothing. */
  freeze(): void;
  thaw(): void;
  /** SIGKILL, and gone when it resolves. */
  kill(): Promise<void>;
  /** SIGTERM: the exit code once it is gone. */
  terminate(): Promise<number | null>;
  /** Everything it wrote to its streams since it was opened. */
  said(): string;
}

/** One that has loaded everything and waits for its part. It can play several, one after the other. */
export interface IdleProcess {
  ready(): Promise<unknown>;
  open(spec: VaultSpec): Promise<VaultProcess>;
  /** False when it did not end its part in time, and is gone. */
  shut(): Promise<boolean>;
  kill(): Promise<void>;
}

const loader = fileURLToPath(new URL('../../../../tools/ts-loader.mjs', import.meta.url));
const worker = fileURLToPath(new URL('./vaultWorker.ts', import.meta.url));
const SHUT_MS = 3_000;

const orders: readonly (keyof VaultOrders)[] = [
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

export function startIdleProcess(): IdleProcess {
  const child = fork(worker, {
    execArgv: ['--no-warnings', '--import', loader],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let sent = 0;
  child.on('message', (message: { id: number; value?: unknown; error?: string }) => {
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error === undefined) asked?.resolve(message.value);
    else asked?.reject(new Error(message.error));
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  void exited.then(() => {
    for (const asked of waiting.values()) asked.reject(new Error(`The process has ended: ${said}`));
    waiting.clear();
  });

  const ask = (order: string, ...args: readonly unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      if (!child.connected) return reject(new Error(`The process has ended: ${said}`));
      const id = (sent += 1);
      waiting.set(id, { resolve, reject });
      child.send({ id, order, args }, (error) => error && reject(error));
    });

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await exited;
  }

  return {
    ready: () => ask('ready'),
    async open(spec) {
      said = '';
      await ask('open', spec);
      const asked = Object.fromEntries(
        orders.map((order) => [order, (...args: unknown[]) => ask(order, ...args)]),
      ) as unknown as VaultOrders;
      return {
        ...asked,
        pid: child.pid ?? 0,
        freeze: () => void child.kill('SIGSTOP'),
        thaw: () => void child.kill('SIGCONT'),
        kill,
        async terminate() {
          child.kill('SIGTERM');
          const [code] = await exited;
          return code;
        },
        said: () => said,
      };
    },
    async shut() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<false>((resolve) => {
        timer = setTimeout(() => resolve(false), SHUT_MS);
      });
      const isShut = await Promise.race([
        ask('shut').then(
          () => true,
          () => false,
        ),
        late,
      ]);
      clearTimeout(timer);
      if (!isShut) await kill();
      return isShut;
    },
    kill,
  };
}
