import { existsSync, readFileSync } from 'node:fs';
import type { EnvRecord } from '@behalf/contracts';
import { mergeEnvFile } from '@behalf/settings';

/** The only reader of the environment: every variable as it is. `.env` fills in what the process was not given. */
export function readRecord(): EnvRecord {
  const file = existsSync('.env') ? readFileSync('.env', 'utf8') : undefined;
  return mergeEnvFile(file, process.env);
}
