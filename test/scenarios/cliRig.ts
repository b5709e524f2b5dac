import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ApiKeyScope } from '@behalf/contracts';
import type { TestUser } from './users.ts';

const cliPath = fileURLToPath(new URL('../../packages/cli/bin/behalf.mjs', import.meta.url));
const COMMAND_TIMEOUT_MS = 60_000;

export interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** Standard output as the one document that it is with `--json`. */
  json(): unknown;
}

export interface RunningCommand {
  /** What it wrote to standard error so far. */
  err(): string;
  interrupt(): void;
  readonly result: Promise<CommandResult>;
}

export interface CommandOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The command itself, in a process of its own, for one person with one key. */
export interface Cli {
  (args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  start(args: readonly string[], options?: CommandOptions): RunningCommand;
}

export function createCli(url: string, key: string): Cli {
  function start(
    args: readonly string[],
    { stdin = '', env = {}, cwd }: CommandOptions = {},
  ): RunningCommand {
    const child = spawn(process.execPath, ['--no-warnings', cliPath, ...args], {
      // Nothing of the test run's own environment.
      env: { PATH: process.env['PATH'] ?? '', BEHALF_URL: url, BEHALF_API_KEY: key, ...env },
      ...(cwd !== undefined && { cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.stdin.on('error', () => undefined).end(stdin);
    const killTimer = setTimeout(() => child.kill('SIGKILL'), COMMAND_TIMEOUT_MS);
    const result = once(child, 'close').then(([code]): CommandResult => {
      clearTimeout(killTimer);
      return { code: code as number | null, out, err, json: () => JSON.parse(out) as unknown };
    });
    return { err: () => err, interrupt: () => void child.kill('SIGINT'), result };
  }
  return Object.assign((args: readonly string[], options?: CommandOptions) => start(args, options).result, {
    start,
  });
}

/** A key of this person. */
export async function createApiKey(user: TestUser, ...scopes: ApiKeyScope[]): Promise<string> {
  const response = await user.post('/api/user/keys', { name: 'terminal', scopes });
  return ((await response.json()) as { key: string }).key;
}
