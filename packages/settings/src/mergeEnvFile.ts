import { parseEnv } from 'node:util';
import type { EnvRecord } from './template/resolveEnv.ts';

/** The environment with a `.env` file's text beneath it: what the process was given wins. */
export function mergeEnvFile(envFileText: string | undefined, env: EnvRecord): EnvRecord {
  return envFileText === undefined ? env : { ...parseEnv(envFileText), ...env };
}
