import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The gateway, in a process of its own. */
export interface DemoGateway {
  readonly url: string;
  /** Everything it printed so far. */
  output(): string;
  /** Resolves when it has ended, with its exit code. */
  readonly ended: Promise<number | null>;
  /** Ends it: asks first, and does not wait for ever. */
  stop(): Promise<number | null>;
}

export interface DemoGatewayParts {
  /** Arguments of Node that start it. */
  command: readonly string[];
  directory: string;
  env: Readonly<Record<string, string>>;
  /** Gives the start up. */
  signal?: AbortSignal | undefined;
}

/** A cold start builds first. */
const START_MS = 180_000;
const STOP_MS = 15_000;
/** The end of what it says is what tells of a failure. */
const MOST_OUTPUT = 1_000_000;

export async function startGateway({
  command,
  directory,
  env,
  signal,
}: DemoGatewayParts): Promise<DemoGateway> {
  if (signal?.aborted) throw failed('was not waited for', '');
  const child = spawn(process.execPath, [...command], {
    cwd: directory,
    // Nothing of the caller's own environment: somebody's MONGO_URI must not decide what a demo writes to.
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Of a group of its own: a Ctrl-C is ours to pass on, so that what it needs until its end is still there.
    detached: true,
  });
  let output = '';
  const abandon = () => void child.kill('SIGKILL');
  process.once('exit', abandon);
  const ended = once(child, 'close').then(([code]) => {
    process.removeListener('exit', abandon);
    return code as number | null;
  });
  const kill = (signal: NodeJS.Signals) => void (child.exitCode ?? child.kill(signal));
  const stop = async () => {
    kill('SIGTERM');
    const late = setTimeout(() => kill('SIGKILL'), STOP_MS);
    const code = await ended;
    clearTimeout(late);
    return code;
  };

  const listening = new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(failed('did not start in time', output)), START_MS);
    const heard = (text: string) => {
      output = (output + text).slice(-MOST_OUTPUT);
      const url = /is listening on (http:\/\/[^\s"]+)/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(late);
      resolve(url);
    };
    child.stdout.setEncoding('utf8').on('data', heard);
    child.stderr.setEncoding('utf8').on('data', heard);
    signal?.addEventListener('abort', () => reject(failed('was not waited for', '')), { once: true });
    void ended.then(() => {
      clearTimeout(late);
      reject(failed('ended', output));
    });
  });
  try {
    return { url: await listening, output: () => output, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function failed(what: string, output: string): Error {
  return new Error(`The gateway ${what}:\n${output}`);
}
