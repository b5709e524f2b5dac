import { NO_PROVIDER } from '@behalf/settings';
import { ReauthNeeded } from '../credentials/reauthNeeded.ts';
import { usesGraph } from '../registry/scope.ts';
import { prepareCredential } from '../toolcall/sendToServer.ts';
import type { PreparedTarget } from '../toolcall/obtainCredential.ts';
import { failed, ok, type StepFinding } from './checklist.ts';
import type { DiagnosisContext, DiagnoseParts } from './parts.ts';

/** Whether the server is given a token that the user's own was exchanged for. */
export function requiresExchange({ server }: DiagnosisContext): boolean {
  return server.scope === 'user' && (server.auth === 'obo' || usesGraph(server.settings));
}

/** Whether users' tokens may go there, and whether who decides about it may. */
export async function checkTrust(
  { oboTargets, oboTrust }: Pick<DiagnoseParts, 'oboTargets' | 'oboTrust'>,
  { server, canSeeAddresses }: DiagnosisContext,
): Promise<StepFinding> {
  const problem = oboTargets.findProblem(server);
  if (problem) {
    const code = problem.code === NO_PROVIDER ? 'OBO_MISCONFIGURED' : 'MCP_OBO_FORBIDDEN';
    const fieldName = problem.path.join('.');
    return canSeeAddresses
      ? failed(
          code,
          `Tokens must not be exchanged for this server: ${fieldName} ${problem.message}.`,
          `${problem.suggestion}.`,
        )
      : failed(code, 'User tokens must not be sent to this server.', 'Ask the operator.');
  }
  if (await oboTrust.isTrusted(server))
    return ok('The author of the definition is allowed to receive user tokens.');
  return failed(
    'MCP_OBO_FORBIDDEN',
    'The user who last changed this server is not allowed to receive user tokens.',
  );
}

/** The exchange itself, as for a call. */
export async function checkExchange(
  parts: DiagnoseParts,
  { server, inbound }: DiagnosisContext,
  signal: AbortSignal,
): Promise<{ readonly finding: StepFinding; readonly prepared?: PreparedTarget }> {
  try {
    const prepared = await prepareCredential(
      parts,
      server,
      { ...inbound, signal },
      { bypassesBreaker: true },
    );
    return { finding: ok('Your gateway sign-in was exchanged for a token for this server.'), prepared };
  } catch (error) {
    if (error instanceof ReauthNeeded) return { finding: failed(error.detail.code) };
    throw error;
  }
}
