import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Trail } from './recordAudit.ts';
import { signInNeeded } from './signInNeeded.ts';
import { toGatewayError } from './toGatewayError.ts';

/** What a caller is told where there is no result that could say it: then the need for a sign-in is an error. */
export function toldOf(error: unknown, server: ServerSnapshot, trail?: Trail): unknown {
  const needed = signInNeeded(error, server);
  if (!needed) return toGatewayError(error, server.name);
  if (trail) trail.refused = needed.code;
  const { refusal, auth } = needed;
  return refusal ?? new GatewayError('MCP_AUTHORIZATION_REQUIRED', { signIn: auth, cause: error });
}
