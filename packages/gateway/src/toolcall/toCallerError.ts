import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { AuditContext } from './recordAudit.ts';
import { toSignInRequirement } from './signInRequirement.ts';
import { toGatewayError } from './toGatewayError.ts';

/** What a caller is told where there is no result that could say it: then the need for a sign-in is an error. */
export function toCallerError(error: unknown, server: ServerSnapshot, auditContext?: AuditContext): unknown {
  const signIn = toSignInRequirement(error, server);
  if (!signIn) return toGatewayError(error, server.name);
  if (auditContext) auditContext.refusalCode = signIn.code;
  const { bearerError, auth } = signIn;
  return bearerError ?? new GatewayError('MCP_AUTHORIZATION_REQUIRED', { signIn: auth, cause: error });
}
