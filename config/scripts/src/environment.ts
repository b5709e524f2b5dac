import { existsSync, readFileSync } from 'node:fs';
import { parseEnv, secretVariableNames, type Env } from '@behalf/contracts';
import { createKeyring, createRedactor, systemClock, systemRandom, type Keyring } from '@behalf/kernel';
import { formatDiagnostics, mergeEnvFile } from '@behalf/settings';
import { loadKeys } from '@behalf/stores/open';

export const systemParts = { clock: systemClock, random: systemRandom };

/** The command cannot go on, and the message says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The process's own variables over those of `.env`, as the gateway sees them. */
export function readVariables(): Readonly<Record<string, string | undefined>> {
  const file = existsSync('.env') ? readFileSync('.env', 'utf8') : undefined;
  return mergeEnvFile(file, process.env);
}

/** The same environment the gateway reads, so that a command works on the same store. */
export function readEnvironment(): Env {
  const result = parseEnv(readVariables());
  if (!result.ok) throw new CommandError(formatDiagnostics(result.diagnostics, 'environment'));
  return result.env;
}

export function readKeys(env: Env): readonly Uint8Array[] {
  return loadKeys({ configured: env.CREDS_KEY, dataDir: env.BEHALF_DATA_DIR, random: systemRandom });
}

export function readKeyring(env: Env): Keyring {
  return createKeyring(readKeys(env), systemRandom);
}

/** Runs a command: its mistakes are one line and exit 1, without a stack. */
export async function runScript(command: () => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${await command()}\n`);
  } catch (error) {
    // A driver's message may quote the URI it was given, with the password in it.
    process.stderr.write(`${createRedactor(collectSecrets()).text(describeError(error))}\n`);
    process.exitCode = 1;
  }
}

/** What the operator can act on; anything else is our mistake, and its stack says where. */
const EXPECTED_ERRORS = [
  'CommandError',
  'CopyError',
  'RotationError',
  'GatewayError',
  'StorageFormatError',
  'StoreUnavailableError',
];

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  if (!EXPECTED_ERRORS.includes(error.name) && !code.startsWith('ERR_PARSE_ARGS'))
    return error.stack ?? String(error);
  if (error.name !== 'StoreUnavailableError' || !(error.cause instanceof Error)) return error.message;
  return `${error.message} (${error.cause.message.replace(/\s+/g, ' ')}). Check that it runs and that its address is correct.`;
}

/** Every secret variable, and what stands before the host of every URI this command was given. */
function collectSecrets(): string[] {
  const texts = [...process.argv];
  const secretTexts: string[] = [];
  try {
    const variables = readVariables();
    texts.push(...Object.values(variables).filter((value) => value !== undefined));
    secretTexts.push(...[...secretVariableNames].flatMap((name) => variables[name]?.split(',') ?? []));
  } catch {
    // A file that cannot be read gave the command no secret either.
  }
  for (const text of texts) {
    const [, account = ''] = /:\/\/(.*)@/.exec(text) ?? [];
    secretTexts.push(account, account.slice(account.indexOf(':') + 1));
  }
  return secretTexts;
}
