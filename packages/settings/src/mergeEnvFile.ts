import { parseEnv } from 'node:util';
import type { EnvRecord } from './template/resolveEnv.ts';

/** The environment with a `.env` file's text beneath it: what the process was given wins. */
export function mergeEnvFile(text: string | undefined, record: EnvRecord): EnvRecord {
  return text === undefined ? record : { ...parseEnv(text), ...record };
}
