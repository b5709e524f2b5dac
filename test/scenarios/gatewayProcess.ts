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
  ended(): Promise<number | null>;
  stop(): Promise<number | null>;
}

export interface Workplace {
  readonly dir: string;
  /** Starts a gateway here and waits until it listens. */
  start(env?: Record<string, string>): Promise<GatewayProcess>;
  /** For a start that must fail: its exit code and what it said. */
  run(
    env?: Record<string, string>,
    args?: readonly string[],
    stdin?: string,
  ): Promise<{ code: number | null; output: string }>;
  /** Ends what still runs and removes the directory. */
  clear(): Promise<void>;
}

const RUN_LIMIT_MS = 15_000;
const GATEWAY = [join(root, 'api/src/main.ts')];
const loader = ['--import', join(root, 'tools/ts-loader.mjs')];

export async function createWorkplace(): Promise<Workplace> {
  const dir = await mkdtemp(join(tmpdir(), 'behalf-gateway-'));
  const running = new Set<GatewayProcess>();

  function launch(env: Record<string, string>, args: readonly string[]) {
    const child = spawn(process.execPath, ['--no-warnings', ...loader, ...args], {
      cwd: dir,
      // Nothing of the test run's own environment: a developer's MONGO_URI must not decide a test.
      env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = once(child, 'close').then(([code]) => code as number | null);
    return { child, ended, output: () => output };
  }

  return {
    dir,
    async start(env = {}) {
      const { child, ended, output } = launch(env, GATEWAY);
      let exited = false;
      void ended.then(() => (exited = true));
      const url = await eventually(
        'the gateway to listen',
        () => {
          if (exited) throw new Error(`The gateway ended:\n${output()}`);
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
        ended: () => ended,
        async stop() {
          child.kill('SIGTERM');
          const code = await ended;
          running.delete(gateway);
          return code;
        },
      };
      running.add(gateway);
      return gateway;
    },
    async run(env = {}, args = GATEWAY, stdin = '') {
      const { child, ended, output } = launch(env, args);
      child.stdin.end(stdin);
      // What should have ended by itself and serves instead is a failure to report, not to wait for.
      const limit = setTimeout(() => child.kill('SIGKILL'), RUN_LIMIT_MS);
      const code = await ended;
      clearTimeout(limit);
      return { code, output: output() };
    },
    async clear() {
      await Promise.all(
        [...running].map(async (gateway) => {
          gateway.signal('SIGKILL');
          await gateway.ended();
        }),
      );
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** An operator's command from config/scripts, as arguments of `run`. */
export function script(name: string, ...args: string[]): string[] {
  return [join(root, 'config/scripts/src', `${name}.ts`), ...args];
}
