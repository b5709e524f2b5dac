import { GatewayError } from '../errors/gatewayError.ts';
import { mayRequireOAuth } from '../registry/mayRequireOAuth.ts';
import type { UserServer } from '../registry/server.ts';
import { toGatewayError } from '../toolcall/toGatewayError.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { listDefinitionTools, toRemoteTarget, type ListDefinitionParts } from './listDefinitionTools.ts';
import type { ConfigureParts, ServerProbe } from './parts.ts';

/** A look at a server that is not stored yet, with what its definition holds. */
export function createInspectDefinition(parts: ListDefinitionParts): ConfigureParts['inspect'] {
  return async (server) => {
    try {
      return { tools: (await listDefinitionTools(parts, server, toRemoteTarget(server))).items.length };
    } catch (error) {
      return handleFailure(error, server);
    }
  };
}

function handleFailure(error: unknown, server: UserServer): ServerProbe {
  // It is there and wants a sign-in first, which nobody said: then it is one whose users sign in.
  if (error instanceof UpstreamError && error.reason === 'unauthorized' && mayRequireOAuth(server)) {
    return {};
  }
  const callerError = toGatewayError(error, 'The server');
  if (!(callerError instanceof GatewayError) || callerError.code === 'MCP_DOMAIN_NOT_ALLOWED')
    throw callerError;
  throw new GatewayError('MCP_INSPECTION_FAILED', { detail: callerError.detail, cause: error });
}
