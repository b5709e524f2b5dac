import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ApiKeyScope } from '@behalf/contracts';
import type { Person } from './people.ts';

const bin = fileURLToPath(new URL('../../packages/cli/bin/behalf.mjs', import.meta.url));
const LIMIT_MS = 60_000;

export interface Ended {
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
  readonly ended: Promise<Ended>;
}

export interface CommandOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The command itself, in a process of its own, for one person with one key. */
export interface Behalf {
  (args: readonly string[], options?: CommandOptions): Promise<Ended>;
  start(args: readonly string[], options?: CommandOptions): RunningCommand;
}

export function behalf(url: string, key: string): Behalf {
  function start(
    args: readonly string[],
    { stdin = '', env = {}, cwd }: CommandOptions = {},
  ): RunningCommand {
    const child = spawn(process.execPath, ['--no-warnings', bin, ...args], {
      // Nothing of the test run's own environment.
      env: { PATH: process.env['PATH'] ?? '', BEHALF_URL: url, BEHALF_API_KEY: key, ...env },
      ...(cwd !== undefined && { cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.stdin.on('error', () => undefined).end(stdin);
    const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    const ended = once(child, 'close').then(([code]): Ended => {
      clearTimeout(limit);
      return { code: code as number | null, out, err, json: () => JSON.parse(out) as unknown };
    });
    return { err: () => err, interrupt: () => void child.kill('SIGINT'), ended };
  }
  return Object.assign((args: readonly string[], options?: CommandOptions) => start(args, options).ended, {
    start,
  });
}

/** A key of this person. */
export async function keyOf(person: Person, ...scopes: ApiKeyScope[]): Promise<string> {
  const made = await person.post('/api/user/keys', { name: 'terminal', scopes });
  return ((await made.json()) as { key: string }).key;
}
