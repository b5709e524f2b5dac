import { listDeclaredVariables } from '../registry/scope.ts';
import { failed, ok, skipped, type StepFinding } from './checklist.ts';
import type { DiagnosisContext, DiagnoseParts } from './parts.ts';

/** Whether the user has entered what the definition wants of them. Names, never values. */
export async function checkVariables(
  { variables }: Pick<DiagnoseParts, 'variables'>,
  { server, principal }: DiagnosisContext,
): Promise<StepFinding> {
  if (listDeclaredVariables(server.settings).length === 0)
    return skipped('The server requires no values from you.');
  const flags = Object.entries(await variables.readSetFlags(server, principal));
  const missing = flags.filter(([, isSet]) => !isSet).map(([name]) => name);
  if (missing.length === 0) return ok('You have entered all required values.');
  return failed('MCP_USER_VARS_MISSING', `Some of your values are missing: ${missing.join(', ')}.`);
}
