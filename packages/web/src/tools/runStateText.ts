import { ApiError } from '../api/apiError.ts';
import { strings } from '../strings/strings.ts';
import type { Run } from './run.ts';

/** Errors that the gateway returns before it sends anything to the server. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'BLOCK_INCOMPLETE',
  'MCP_ARGUMENTS_INVALID',
  'MCP_USER_VARS_MISSING',
  'VERSION_CONFLICT',
]);

/** The state of a run as shown to the user. */
export function runStateText({ state, error }: Pick<Run, 'state' | 'error'>): string {
  const words = strings.tools.run;
  const isNotSent = state === 'refused' && error instanceof ApiError && NOT_SENT.has(error.code);
  return isNotSent ? words.notSent : words.states[state];
}
