import { declaredVariables } from '../registry/scope.ts';
import { failed, ok, skipped, type Finding } from './checklist.ts';
import type { Case, DiagnoseParts } from './parts.ts';

/** Whether the user has entered what the definition wants of them. Names, never values. */
export async function lookAtVariables(
  { variables }: Pick<DiagnoseParts, 'variables'>,
  { server, principal }: Case,
): Promise<Finding> {
  if (declaredVariables(server.settings).length === 0) return skipped('The server wants no values of yours.');
  const flags = Object.entries(await variables.readSetFlags(server, principal));
  const missing = flags.filter(([, isSet]) => !isSet).map(([name]) => name);
  if (missing.length === 0) return ok('You have entered all values that the server wants of you.');
  return failed('MCP_USER_VARS_MISSING', `Values of yours are missing: ${missing.join(', ')}.`);
}
