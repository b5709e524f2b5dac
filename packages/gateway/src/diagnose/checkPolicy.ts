import { hasAclBit } from '@behalf/contracts';
import { getViewerRights } from '../configure/serverView.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { checkAccess } from '../toolcall/checkAccess.ts';
import { resolveServer } from '../toolcall/resolveServer.ts';
import { failed, ok, type StepFinding } from './checklist.ts';
import type { DiagnosisInbound } from './diagnose.ts';
import type { DiagnosisContext, DiagnoseParts } from './parts.ts';

/** Whether this user may use the server at all; `of` only then. */
export function checkPolicy(
  parts: DiagnoseParts,
  name: string,
  inbound: DiagnosisInbound,
): { readonly finding: StepFinding; readonly context?: DiagnosisContext } {
  const { principal } = inbound;
  const resolved = resolveServer(parts.registry, principal, name);
  try {
    const server = checkAccess(parts, principal, resolved, 'MCP_SERVER_NOT_FOUND');
    const { isEditor } = getViewerRights(principal, server, parts.getManageBits(principal, server));
    return {
      finding: ok('Your role may use servers, and this server is shared with you.'),
      context: {
        server,
        principal,
        inbound,
        canSeeAddresses: isEditor,
        isForOtherUser: inbound.isForOtherUser ?? false,
      },
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (error.code === 'MCP_FORBIDDEN') {
      return { finding: failed(error.code, 'Your role may not use servers.') };
    }
    if (error.code !== 'MCP_SERVER_NOT_FOUND') throw error;
    // Who looks after it knows that it is there.
    const canManage = resolved !== undefined && hasAclBit(parts.getManageBits(principal, resolved), 'VIEW');
    return {
      finding: canManage
        ? failed(
            error.code,
            'You can manage this server, but it is not shared with you for use.',
            'Share it with yourself.',
          )
        : failed(
            error.code,
            'There is no server with this name that you may use.',
            'Check the name; if it is right, ask its owner to share it with you.',
          ),
    };
  }
}
