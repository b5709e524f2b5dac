import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The gateway, in a process of its own. */
export interface DemoGateway {
  readonly url: string;
  /** Everything it printed so far. */
  output(): string;
  /** Resolves when it has ended, with its exit code. */
  readonly exited: Promise<number | null>;
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
const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 15_000;
/** The end of what it says is what tells of a failure. */
const MAX_OUTPUT_LENGTH = 1_000_000;

export async function startDemoGateway({
  command,
  directory,
  env,
  signal,
}: DemoGatewayParts): Promise<DemoGateway> {
  if (signal?.aborted) throw createGatewayError('start was aborted', '');
  const child = spawn(process.execPath, [...command], {
    cwd: directory,
    // Nothing of the caller's own environment: somebody's MONGO_URI must not decide what a demo writes to.
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Of a group of its own: a Ctrl-C is ours to pass on, so that what it needs until its end is still there.
    detached: true,
  });
  let output = '';
  const killOnExit = () => void child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const exited = once(child, 'close').then(([code]) => {
    process.removeListener('exit', killOnExit);
    return code as number | null;
  });
  const kill = (signal: NodeJS.Signals) => void (child.exitCode ?? child.kill(signal));
  const stop = async () => {
    kill('SIGTERM');
    const timeout = setTimeout(() => kill('SIGKILL'), STOP_TIMEOUT_MS);
    const code = await exited;
    clearTimeout(timeout);
    return code;
  };

  const listeningUrl = new Promise<string>((resolve, reject) => {
    const timeout = setTimeout(
      () => reject(createGatewayError('did not start in time', output)),
      START_TIMEOUT_MS,
    );
    const onOutput = (text: string) => {
      output = (output + text).slice(-MAX_OUTPUT_LENGTH);
      const url = /is listening on (http:\/\/[^\s"]+)/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timeout);
      resolve(url);
    };
    child.stdout.setEncoding('utf8').on('data', onOutput);
    child.stderr.setEncoding('utf8').on('data', onOutput);
    signal?.addEventListener('abort', () => reject(createGatewayError('start was aborted', '')), {
      once: true,
    });
    void exited.then(() => {
      clearTimeout(timeout);
      reject(createGatewayError('ended', output));
    });
  });
  try {
    return { url: await listeningUrl, output: () => output, exited, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function createGatewayError(event: string, output: string): Error {
  return new Error(`The gateway ${event}:\n${output}`);
}
