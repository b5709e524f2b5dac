import { existsSync, readFileSync } from 'node:fs';
import { parseEnv, secretVariableNames, type Env } from '@behalf/contracts';
import { createKeyring, createRedactor, systemClock, systemRandom, type Keyring } from '@behalf/kernel';
import { explain, withEnvFile } from '@behalf/settings';
import { loadKeys } from '@behalf/stores/open';

export const parts = { clock: systemClock, random: systemRandom };

/** The command cannot go on, and the message says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The process's own variables over those of `.env`, as the gateway sees them. */
export function variables(): Readonly<Record<string, string | undefined>> {
  const file = existsSync('.env') ? readFileSync('.env', 'utf8') : undefined;
  return withEnvFile(file, process.env);
}

/** The same environment the gateway reads, so that a command works on the same store. */
export function environment(): Env {
  const result = parseEnv(variables());
  if (!result.ok) throw new CommandError(explain(result.diagnostics, 'environment'));
  return result.env;
}

export function keysOf(env: Env): readonly Uint8Array[] {
  return loadKeys({ configured: env.CREDS_KEY, dataDir: env.BEHALF_DATA_DIR, random: systemRandom });
}

export function keyringOf(env: Env): Keyring {
  return createKeyring(keysOf(env), systemRandom);
}

/** Runs a command: its mistakes are one line and exit 1, without a stack. */
export async function runCommand(command: () => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${await command()}\n`);
  } catch (error) {
    // A driver's message may quote the URI it was given, with the password in it.
    process.stderr.write(`${createRedactor(secrets()).text(describe(error))}\n`);
    process.exitCode = 1;
  }
}

/** What the operator can act on; anything else is our mistake, and its stack says where. */
const expected = [
  'CommandError',
  'CopyRefused',
  'RotationRefused',
  'GatewayError',
  'StorageFormatError',
  'StoreUnavailableError',
];

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  if (!expected.includes(error.name) && !code.startsWith('ERR_PARSE_ARGS'))
    return error.stack ?? String(error);
  if (error.name !== 'StoreUnavailableError' || !(error.cause instanceof Error)) return error.message;
  return `${error.message} (${error.cause.message.replace(/\s+/g, ' ')}). Is it running, and is its address right?`;
}

/** Every secret variable, and what stands before the host of every URI this command was given. */
function secrets(): string[] {
  const given = [...process.argv];
  const known: string[] = [];
  try {
    const all = variables();
    given.push(...Object.values(all).filter((value) => value !== undefined));
    known.push(...[...secretVariableNames].flatMap((name) => all[name]?.split(',') ?? []));
  } catch {
    // A file that cannot be read gave the command no secret either.
  }
  for (const text of given) {
    const [, account = ''] = /:\/\/(.*)@/.exec(text) ?? [];
    known.push(account, account.slice(account.indexOf(':') + 1));
  }
  return known;
}
