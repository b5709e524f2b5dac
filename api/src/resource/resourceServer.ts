import type { IncomingMessage } from 'node:http';
import { GatewayError, type Principal } from '@behalf/gateway';
import type { Route } from '../http/routes.ts';
import type { ProblemResponse } from '../middleware/problem.ts';
import type { EndpointResources } from './endpointResources.ts';
import { metadataRoutes } from './metadataRoutes.ts';

/** The gateway as an OAuth resource server: which tokens count where, and where to get one. */
export interface McpResourceServer {
  readonly routes: readonly Route[];
  /** Throws unless the token that a caller is known by counts for this request. Whoever has no token has nothing to ask. */
  readonly check: (caller: Principal, req: IncomingMessage) => void;
  /** At an MCP endpoint, a refusal also says where the document about it is. */
  readonly challenge: (response: ProblemResponse, req: IncomingMessage) => ProblemResponse;
}

export interface McpResourceServerParts {
  /** Who issues tokens for us. Null: API keys alone, and there is nowhere to send anybody. */
  readonly issuer: (() => string) | null;
  /** What a user's token of the identity provider must have been given for, at MCP endpoints. */
  readonly scopes: readonly string[];
  /** What clients are told to ask for. */
  readonly offeredScopes: readonly string[];
  readonly endpoints: EndpointResources;
  readonly baseUrl: () => string;
}

const CHALLENGE_HEADER = 'WWW-Authenticate';

export function createMcpResourceServer(parts: McpResourceServerParts): McpResourceServer {
  const { issuer, scopes, offeredScopes, endpoints, baseUrl } = parts;
  const scope = offeredScopes.length > 0 ? [`scope="${offeredScopes.join(' ')}"`] : [];

  return {
    routes: issuer === null ? [] : metadataRoutes({ issuer, scopes: offeredScopes, baseUrl }),
    check({ kind, authentication }, req) {
      if (authentication.via !== 'bearer' || (authentication.endpoints === undefined && scopes.length === 0))
        return;
      const path = pathOf(req);
      if (
        authentication.endpoints &&
        !authentication.endpoints.some((audience) => endpoints.covers(audience, path))
      ) {
        throw new GatewayError('AUTH_TOKEN_INVALID');
      }
      // Nothing is delegated to a program: its roles say what it may do.
      if (kind === 'service' || endpoints.findByPath(path) === null) return;
      // Our own are given for nothing else.
      if (authentication.grant) return;
      if (!scopes.every((required) => isScopeGranted(required, authentication.scopes ?? [])))
        throw new GatewayError('TOKEN_SCOPE');
    },
    challenge(response, req) {
      const { code } = response.problem;
      const current =
        response.headers[CHALLENGE_HEADER] ?? (code === 'TOKEN_SCOPE' ? INSUFFICIENT_SCOPE : undefined);
      const endpoint = issuer === null || current === undefined ? null : endpoints.findByPath(pathOf(req));
      if (!endpoint || current === undefined) return response;
      const [scheme, ...existingParams] = current.split(/ (.*)/, 2);
      const params = [...existingParams, `resource_metadata="${endpoint.metadata}"`, ...scope];
      return {
        ...response,
        headers: { ...response.headers, [CHALLENGE_HEADER]: `${scheme ?? ''} ${params.join(', ')}` },
      };
    },
  };
}

/** RFC 6750, section 3.1. */
const INSUFFICIENT_SCOPE = 'Bearer error="insufficient_scope"';

/** Entra is asked for a scope with the API's name before it, and writes only what follows into the token. */
function isScopeGranted(required: string, granted: readonly string[]): boolean {
  const shortName = required.slice(required.lastIndexOf('/') + 1);
  // Whatever was consented to: the token names it instead.
  if (shortName === '.default') return granted.length > 0;
  return granted.includes(required) || granted.includes(shortName);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const queryStart = url.indexOf('?');
  return queryStart === -1 ? url : url.slice(0, queryStart);
}
