import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@behalf/testkit';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A real gateway in a process of its own, in a directory of its own. */
export interface GatewayProcess {
  readonly url: string;
  readonly setupLink: string | null;
  /** Everything it printed so far. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** The exit code. */
  waitForExit(): Promise<number | null>;
  stop(): Promise<number | null>;
}

export interface GatewayWorkspace {
  readonly dir: string;
  /** Starts a gateway here and waits until it listens. */
  start(env?: Record<string, string>): Promise<GatewayProcess>;
  /** For a start that must fail: its exit code and what it said. */
  runToExit(
    env?: Record<string, string>,
    args?: readonly string[],
    stdin?: string,
  ): Promise<{ code: number | null; output: string }>;
  /** Ends what still runs and removes the directory. */
  cleanUp(): Promise<void>;
}

const RUN_TIMEOUT_MS = 15_000;
const GATEWAY_ARGS = [join(root, 'api/src/main.ts')];
const loaderArgs = ['--import', join(root, 'tools/ts-loader.mjs')];

export async function createWorkspace(): Promise<GatewayWorkspace> {
  const dir = await mkdtemp(join(tmpdir(), 'behalf-gateway-'));
  const running = new Set<GatewayProcess>();

  function spawnGateway(env: Record<string, string>, args: readonly string[]) {
    const child = spawn(process.execPath, ['--no-warnings', ...loaderArgs, ...args], {
      cwd: dir,
      // Nothing of the test run's own environment: a developer's MONGO_URI must not decide a test.
      env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    const waitForExit = once(child, 'close').then(([code]) => code as number | null);
    return { child, waitForExit, output: () => output };
  }

  return {
    dir,
    async start(env = {}) {
      const { child, waitForExit, output } = spawnGateway(env, GATEWAY_ARGS);
      let hasExited = false;
      void waitForExit.then(() => (hasExited = true));
      const url = await eventually(
        'the gateway to listen',
        () => {
          if (hasExited) throw new Error(`The gateway ended:\n${output()}`);
          // The last line of a start: the link, if any, stands before it.
          return /is listening on (http:\/\/\S+?)"/.exec(output())?.[1];
        },
        30_000,
      );
      const gateway: GatewayProcess = {
        url,
        setupLink: /(http:\S+\/setup\?token=\S+)/.exec(output())?.[1] ?? null,
        output,
        signal: (name) => void child.kill(name),
        waitForExit: () => waitForExit,
        async stop() {
          child.kill('SIGTERM');
          const code = await waitForExit;
          running.delete(gateway);
          return code;
        },
      };
      running.add(gateway);
      return gateway;
    },
    async runToExit(env = {}, args = GATEWAY_ARGS, stdin = '') {
      const { child, waitForExit, output } = spawnGateway(env, args);
      child.stdin.end(stdin);
      // What should have ended by itself and serves instead is a failure to report, not to wait for.
      const killTimer = setTimeout(() => child.kill('SIGKILL'), RUN_TIMEOUT_MS);
      const code = await waitForExit;
      clearTimeout(killTimer);
      return { code, output: output() };
    },
    async cleanUp() {
      await Promise.all(
        [...running].map(async (gateway) => {
          gateway.signal('SIGKILL');
          await gateway.waitForExit();
        }),
      );
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** An operator's command from config/scripts, as arguments of `run`. */
export function createScriptArgs(name: string, ...args: string[]): string[] {
  return [join(root, 'config/scripts/src', `${name}.ts`), ...args];
}
