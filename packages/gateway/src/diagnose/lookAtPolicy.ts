import { grants } from '@behalf/contracts';
import { audienceOf } from '../configure/serverView.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { checkAccess } from '../toolcall/checkAccess.ts';
import { resolveServer } from '../toolcall/resolveServer.ts';
import { failed, ok, type Finding } from './checklist.ts';
import type { DiagnosisInbound } from './diagnose.ts';
import type { Case, DiagnoseParts } from './parts.ts';

/** Whether this user may use the server at all; `of` only then. */
export function lookAtPolicy(
  parts: DiagnoseParts,
  name: string,
  inbound: DiagnosisInbound,
): { readonly finding: Finding; readonly of?: Case } {
  const { principal } = inbound;
  const resolved = resolveServer(parts.registry, principal, name);
  try {
    const server = checkAccess(parts, principal, resolved, 'MCP_SERVER_NOT_FOUND');
    const { isEditor } = audienceOf(principal, server, parts.manageBits(principal, server));
    return {
      finding: ok('Your role may use servers, and this one is for you.'),
      of: { server, principal, inbound, seesAddresses: isEditor, isOthers: inbound.isOthers ?? false },
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (error.code === 'MCP_FORBIDDEN') {
      return { finding: failed(error.code, 'Your role may not use servers.') };
    }
    if (error.code !== 'MCP_SERVER_NOT_FOUND') throw error;
    // Who looks after it knows that it is there.
    const looksAfterIt = resolved !== undefined && grants(parts.manageBits(principal, resolved), 'VIEW');
    return {
      finding: looksAfterIt
        ? failed(
            error.code,
            'You look after this server; it is not shared with you for use.',
            'Share it with yourself.',
          )
        : failed(
            error.code,
            'There is no server of this name that you may use.',
            'Check the name; if it is right, ask its owner to share it with you.',
          ),
    };
  }
}
