import { NO_PROVIDER } from '@behalf/settings';
import { ReauthNeeded } from '../credentials/reauthNeeded.ts';
import { usesGraph } from '../registry/scope.ts';
import { prepareCredential } from '../toolcall/sendToServer.ts';
import type { PreparedTarget } from '../toolcall/obtainCredential.ts';
import { failed, ok, type Finding } from './checklist.ts';
import type { Case, DiagnoseParts } from './parts.ts';

/** Whether the server is given a token that the user's own was exchanged for. */
export function needsExchange({ server }: Case): boolean {
  return server.scope === 'user' && (server.auth === 'obo' || usesGraph(server.settings));
}

/** Whether users' tokens may go there, and whether who decides about it may. */
export async function lookAtTrust(
  { oboTargets, oboTrust }: Pick<DiagnoseParts, 'oboTargets' | 'oboTrust'>,
  { server, seesAddresses }: Case,
): Promise<Finding> {
  const problem = oboTargets.problemOf(server);
  if (problem) {
    const code = problem.code === NO_PROVIDER ? 'OBO_MISCONFIGURED' : 'MCP_OBO_FORBIDDEN';
    const place = problem.path.join('.');
    return seesAddresses
      ? failed(
          code,
          `Tokens may not be exchanged for it: ${place} ${problem.message}.`,
          `${problem.suggestion}.`,
        )
      : failed(code, 'Tokens of users may not go to this server.', 'Ask the operator.');
  }
  if (await oboTrust.isTrusted(server))
    return ok('Who defined the server may have tokens of users sent to it.');
  return failed(
    'MCP_OBO_FORBIDDEN',
    'Who last decided about this server may not have tokens of users sent to it.',
  );
}

/** The exchange itself, as for a call. */
export async function lookAtExchange(
  parts: DiagnoseParts,
  { server, inbound }: Case,
  signal: AbortSignal,
): Promise<{ readonly finding: Finding; readonly ready?: PreparedTarget }> {
  try {
    const ready = await prepareCredential(parts, server, { ...inbound, signal }, { explicit: true });
    return { finding: ok('Your sign-in here was exchanged for a token of the server.'), ready };
  } catch (error) {
    if (error instanceof ReauthNeeded) return { finding: failed(error.detail.code) };
    throw error;
  }
}
