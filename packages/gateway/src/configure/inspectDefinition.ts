import { GatewayError } from '../errors/gatewayError.ts';
import { couldSignIn } from '../registry/couldSignIn.ts';
import type { UserServer } from '../registry/server.ts';
import { toGatewayError } from '../toolcall/toGatewayError.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { listDefinition, targetOf, type ListDefinitionParts } from './listDefinition.ts';
import type { ConfigureParts, Looked } from './parts.ts';

/** A look at a server that is not stored yet, with what its definition holds. */
export function createInspectDefinition(parts: ListDefinitionParts): ConfigureParts['inspect'] {
  return async (server) => {
    try {
      return { tools: (await listDefinition(parts, server, targetOf(server))).items.length };
    } catch (error) {
      return afterFailure(error, server);
    }
  };
}

function afterFailure(error: unknown, server: UserServer): Looked {
  // It is there and wants a sign-in first, which nobody said: then it is one whose users sign in.
  if (error instanceof UpstreamError && error.reason === 'unauthorized' && couldSignIn(server)) {
    return {};
  }
  const told = toGatewayError(error, 'The server');
  if (!(told instanceof GatewayError) || told.code === 'MCP_DOMAIN_NOT_ALLOWED') throw told;
  throw new GatewayError('MCP_INSPECTION_FAILED', { detail: told.detail, cause: error });
}
