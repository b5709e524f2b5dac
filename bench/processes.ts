import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = fileURLToPath(new URL('../', import.meta.url));
const loader = ['--no-warnings', '--import', join(repositoryRoot, 'tools/ts-loader.mjs')];
const START_TIMEOUT_MS = 30_000;

/** A running process that can be stopped. */
export interface RunningProcess {
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

export interface Service extends RunningProcess {
  readonly port: number;
}

/** A worker that processes one job at a time. */
export interface Worker extends RunningProcess {
  runJob<Result>(job: unknown): Promise<Result>;
}

/** All started processes. They are stopped at the end of the run in any case. */
export interface Processes {
  /** Starts a file of this folder that prints `{"port": N}` when it listens. */
  startService(file: string, args?: readonly string[]): Promise<Service>;
  /** Starts a file of this folder that receives jobs over IPC. */
  startWorker(file: string, options?: { args?: readonly string[]; flags?: readonly string[] }): Worker;
  /** Starts any command. `ready` extracts a value from its output. */
  startCommand(
    startCommand: readonly string[],
    options: {
      cwd: string;
      env: NodeJS.ProcessEnv;
      parseReady: (output: string) => string | undefined;
      onStopped?: () => void;
    },
  ): Promise<RunningProcess & { readyMatch: string; output(): string }>;
  stopAll(): Promise<void>;
}

export function createProcesses(): Processes {
  const runningProcesses = new Set<RunningProcess>();

  function trackProcess(child: ChildProcess, onStopped: () => void = () => undefined): RunningProcess {
    const exited = once(child, 'exit');
    const tracked: RunningProcess = {
      pid: child.pid ?? 0,
      async stop() {
        runningProcesses.delete(tracked);
        if (child.exitCode === null && child.signalCode === null) {
          child.kill('SIGTERM');
          const killTimer = setTimeout(() => child.kill('SIGKILL'), 5_000);
          await exited;
          clearTimeout(killTimer);
        }
        onStopped();
      },
    };
    runningProcesses.add(tracked);
    return tracked;
  }

  async function startCommand(
    [file = '', ...args]: readonly string[],
    { cwd, env, parseReady, onStopped }: Parameters<Processes['startCommand']>[1],
  ): Promise<RunningProcess & { readyMatch: string; output(): string }> {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const tracked = trackProcess(child, onStopped);
    let output = '';
    const appendOutput = (text: string) => (output = (output + text).slice(-100_000));
    child.stdout.setEncoding('utf8').on('data', appendOutput);
    child.stderr.setEncoding('utf8').on('data', appendOutput);
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      const readyMatch = parseReady(output);
      if (readyMatch !== undefined) return { ...tracked, readyMatch, output: () => output };
      if (child.exitCode !== null || Date.now() > deadline) {
        await tracked.stop();
        throw new Error(`${[file, ...args].join(' ')} did not start:\n${output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  return {
    startCommand,
    async startService(file, args = []) {
      const tracked = await startCommand(
        [process.execPath, ...loader, join(repositoryRoot, 'bench', file), ...args],
        {
          cwd: repositoryRoot,
          env: {},
          parseReady: (output) => /\{"port":(\d+)\}/.exec(output)?.[1],
        },
      );
      return { ...tracked, port: Number(tracked.readyMatch) };
    },
    startWorker(file, { args = [], flags = [] } = {}) {
      const child = fork(join(repositoryRoot, 'bench', file), [...args], {
        cwd: repositoryRoot,
        env: {},
        execArgv: [...flags, ...loader],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const tracked = trackProcess(child);
      return {
        ...tracked,
        runJob: <Result>(job: unknown) =>
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
      await Promise.all([...runningProcesses].map((tracked) => tracked.stop()));
    },
  };
}

/** The CPU time of a process so far, in milliseconds. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime and stime in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The resident memory of a process in KB. */
export function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}
