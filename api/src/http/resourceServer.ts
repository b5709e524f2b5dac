import type { IncomingMessage } from 'node:http';
import { GatewayError, type Principal } from '@behalf/gateway';
import type { Response } from 'express';
import type { ProblemResponse } from './errors.ts';
import { type Route, publicRoute } from './route.ts';
import { createMatchPath, segmentsOf } from './router.ts';

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

/** The MCP endpoints as resources that tokens are issued for (RFC 8707, RFC 9728): their public addresses are their names. */
export interface EndpointResources {
  /** Whether a token with this audience was issued for one of our endpoints, or for all of them. */
  readonly isEndpoint: (audience: string) => boolean;
  /** Whether such a token counts for a request to this path. */
  readonly covers: (audience: string, path: string) => boolean;
  /** The endpoint that answers at this path; null: none does. */
  readonly findByPath: (path: string) => EndpointResource | null;
}

interface EndpointResource {
  readonly resource: string;
  /** Where the document about it is. */
  readonly metadata: string;
}

/** RFC 9728, section 3: the path of the resource follows. */
const METADATA_PATH = '/.well-known/oauth-protected-resource';
export const ALL_SERVERS_PATH = '/mcp';
const ONE_SERVER_PATH = '/mcp/:serverName';

const matchServerPath = createMatchPath(ONE_SERVER_PATH);

export function createEndpointResources({ baseUrl }: { baseUrl: () => string }): EndpointResources {
  /** In one spelling: a name may be escaped in several ways. */
  function canonicalPath(path: string): string | null {
    const segments = segmentsOf(path);
    if (segments.length === 2 && segments[1] === ALL_SERVERS_PATH.slice(1)) return ALL_SERVERS_PATH;
    const { serverName } = matchServerPath(segments) ?? {};
    return serverName === undefined ? null : `${ALL_SERVERS_PATH}/${encodeURIComponent(serverName)}`;
  }

  /** The canonical path that an audience names, `/` for the whole origin; null: it is not ours. */
  function pathOf(audience: string): string | null {
    const origin = baseUrl();
    if (audience === origin || audience === `${origin}/`) return '/';
    return audience.startsWith(`${origin}/`) ? canonicalPath(audience.slice(origin.length)) : null;
  }

  return {
    isEndpoint: (audience) => pathOf(audience) !== null,
    covers(audience, path) {
      const audiencePath = pathOf(audience);
      const requestPath = canonicalPath(path);
      if (audiencePath === null || requestPath === null) return false;
      // Whoever may use all servers at once may use one.
      return audiencePath === '/' || audiencePath === ALL_SERVERS_PATH || audiencePath === requestPath;
    },
    findByPath(path) {
      const canonical = canonicalPath(path);
      return canonical === null
        ? null
        : { resource: baseUrl() + canonical, metadata: baseUrl() + METADATA_PATH + canonical };
    },
  };
}

interface MetadataRouteParts {
  /** Who issues tokens for us. */
  readonly issuer: () => string;
  readonly scopes: readonly string[];
  readonly baseUrl: () => string;
}

/** A client asks once for a sign-in. */
const CACHE_ONE_HOUR = 'public, max-age=3600';

/**
 * What clients read to find out where to get a token (RFC 9728). Every name has such a document: whether there is a server
 * of that name is nothing that a stranger is told.
 */
function metadataRoutes({ issuer, scopes, baseUrl }: MetadataRouteParts): Route[] {
  function send(res: Response, path: string): void {
    res
      .set('Cache-Control', CACHE_ONE_HOUR)
      // It is public, and pages that are MCP clients read it too.
      .set('Access-Control-Allow-Origin', '*')
      .set('Cross-Origin-Resource-Policy', 'cross-origin')
      .json({
        resource: baseUrl() + path,
        authorization_servers: [issuer()],
        ...(scopes.length > 0 && { scopes_supported: scopes }),
        bearer_methods_supported: ['header'],
        resource_name: 'Behalf',
      });
  }

  return [
    publicRoute('get', METADATA_PATH, (_req, res) => send(res, ''), { allowsCrossOrigin: true }),
    publicRoute('get', METADATA_PATH + ALL_SERVERS_PATH, (_req, res) => send(res, ALL_SERVERS_PATH), {
      allowsCrossOrigin: true,
    }),
    publicRoute(
      'get',
      `${METADATA_PATH}${ONE_SERVER_PATH}`,
      (req, res) => {
        const { serverName } = req.params;
        send(res, `${ALL_SERVERS_PATH}/${encodeURIComponent(serverName)}`);
      },
      { allowsCrossOrigin: true },
    ),
  ];
}
