import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../', import.meta.url));
const loader = ['--no-warnings', '--import', join(root, 'tools/ts-loader.mjs')];
const START_MS = 30_000;

/** Something that runs beside us and can be ended. */
export interface Running {
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

export interface Service extends Running {
  readonly port: number;
}

/** A worker that answers one job at a time. */
export interface Worker extends Running {
  ask<Result>(job: unknown): Promise<Result>;
}

/** Everything that was started, so that whatever goes wrong nothing outlives the run. */
export interface Processes {
  /** A file of this folder that prints `{"port": N}` once it listens. */
  service(file: string, args?: readonly string[]): Promise<Service>;
  /** A file of this folder that takes jobs over IPC. */
  worker(file: string, options?: { args?: readonly string[]; flags?: readonly string[] }): Worker;
  /** Any command; `ready` finds in its output what the caller waits for. */
  command(
    command: readonly string[],
    options: {
      cwd: string;
      env: NodeJS.ProcessEnv;
      ready: (output: string) => string | undefined;
      onStopped?: () => void;
    },
  ): Promise<Running & { found: string; output(): string }>;
  stopAll(): Promise<void>;
}

export function createProcesses(): Processes {
  const running = new Set<Running>();

  function keep(child: ChildProcess, onStopped: () => void = () => undefined): Running {
    const ended = once(child, 'exit');
    const entry: Running = {
      pid: child.pid ?? 0,
      async stop() {
        running.delete(entry);
        if (child.exitCode === null && child.signalCode === null) {
          child.kill('SIGTERM');
          const hurry = setTimeout(() => child.kill('SIGKILL'), 5_000);
          await ended;
          clearTimeout(hurry);
        }
        onStopped();
      },
    };
    running.add(entry);
    return entry;
  }

  async function command(
    [file = '', ...args]: readonly string[],
    { cwd, env, ready, onStopped }: Parameters<Processes['command']>[1],
  ): Promise<Running & { found: string; output(): string }> {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const entry = keep(child, onStopped);
    let output = '';
    const collect = (text: string) => (output = (output + text).slice(-100_000));
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);
    const end = Date.now() + START_MS;
    for (;;) {
      const found = ready(output);
      if (found !== undefined) return { ...entry, found, output: () => output };
      if (child.exitCode !== null || Date.now() > end) {
        await entry.stop();
        throw new Error(`${[file, ...args].join(' ')} did not start:\n${output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  return {
    command,
    async service(file, args = []) {
      const entry = await command([process.execPath, ...loader, join(root, 'bench', file), ...args], {
        cwd: root,
        env: {},
        ready: (output) => /\{"port":(\d+)\}/.exec(output)?.[1],
      });
      return { ...entry, port: Number(entry.found) };
    },
    worker(file, { args = [], flags = [] } = {}) {
      const child = fork(join(root, 'bench', file), [...args], {
        cwd: root,
        env: {},
        execArgv: [...flags, ...loader],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const entry = keep(child);
      return {
        ...entry,
        ask: <Result>(job: unknown) =>
          new Promise<Result>((resolve, reject) => {
            const onExit = () => reject(new Error(`${file} ended in the middle of a job`));
            child.once('exit', onExit);
            child.once('message', (message: { failed?: string }) => {
              child.off('exit', onExit);
              if (message.failed === undefined) resolve(message as Result);
              else reject(new Error(message.failed));
            });
            child.send(job as object);
          }),
      };
    },
    async stopAll() {
      await Promise.all([...running].map((entry) => entry.stop()));
    },
  };
}

/** Processor time of a process so far, in milliseconds. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime and stime, in ticks of which Linux has 100 a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory of a process, in KB. */
export function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}
