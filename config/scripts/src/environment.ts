import { existsSync, readFileSync } from 'node:fs';
import { parseEnv, secretVariableNames, type Env } from '@behalf/contracts';
import { createKeyring, createRedactor, systemClock, systemRandom, type Keyring } from '@behalf/kernel';
import { formatDiagnostics, mergeEnvFile } from '@behalf/settings';
import { loadKeys } from '@behalf/stores/open';

export const systemParts = { clock: systemClock, random: systemRandom };

/** The command cannot continue. The message says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The process environment merged over `.env`, as in the gateway. */
export function readVariables(): Readonly<Record<string, string | undefined>> {
  const file = existsSync('.env') ? readFileSync('.env', 'utf8') : undefined;
  return mergeEnvFile(file, process.env);
}

/** The environment that the gateway reads, so that a command uses the same store. */
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

/** Runs a command. An expected error is printed on one line, without a stack, and the exit code is 1. */
export async function runScript(command: () => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${await command()}\n`);
  } catch (error) {
    // The message of a driver may contain its URI with a password.
    process.stderr.write(`${createRedactor(collectSecrets()).text(describeError(error))}\n`);
    process.exitCode = 1;
  }
}

/** Errors that the operator can fix. Other errors are bugs and print their stack. */
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

/** The values of all secret variables, and the userinfo of all URIs among the arguments. */
function collectSecrets(): string[] {
  const texts = [...process.argv];
  const secretTexts: string[] = [];
  try {
    const variables = readVariables();
    texts.push(...Object.values(variables).filter((value) => value !== undefined));
    secretTexts.push(...[...secretVariableNames].flatMap((name) => variables[name]?.split(',') ?? []));
  } catch {
    // The command received no secret from an unreadable file.
  }
  for (const text of texts) {
    const [, account = ''] = /:\/\/(.*)@/.exec(text) ?? [];
    secretTexts.push(account, account.slice(account.indexOf(':') + 1));
  }
  return secretTexts;
}
