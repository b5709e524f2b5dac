import { existsSync, readFileSync } from 'node:fs';
import type { EnvRecord } from '@behalf/contracts';
import { mergeEnvFile } from '@behalf/settings';

/** The only reader of the environment. A variable in `.env` is used if the process does not have it. */
export function readRecord(): EnvRecord {
  const file = existsSync('.env') ? readFileSync('.env', 'utf8') : undefined;
  return mergeEnvFile(file, process.env);
}
