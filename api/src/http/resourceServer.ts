import type { IncomingMessage } from 'node:http';
import { GatewayError, type Principal } from '@behalf/gateway';
import type { Response } from 'express';
import type { ProblemResponse } from './errors.ts';
import { type Route, publicRoute } from './route.ts';
import { createMatchPath, segmentsOf } from './router.ts';

/** The gateway as an OAuth resource server (RFC 6750, RFC 9728): which tokens are accepted, and where clients get one. */
export interface McpResourceServer {
  readonly routes: readonly Route[];
  /** Throws unless the bearer token of the caller is valid for this request. Other credentials are not restricted. */
  readonly check: (caller: Principal, req: IncomingMessage) => void;
  /** Adds the metadata URL and the scopes to `WWW-Authenticate` of refusals at MCP endpoints (RFC 9728 section 5.1). */
  readonly challenge: (response: ProblemResponse, req: IncomingMessage) => ProblemResponse;
}

export interface McpResourceServerParts {
  /** The authorization server. Null if only API keys are accepted. */
  readonly issuer: (() => string) | null;
  /** The scopes that tokens of the identity provider need at MCP endpoints. */
  readonly scopes: readonly string[];
  /** The scopes in the metadata. */
  readonly offeredScopes: readonly string[];
  readonly endpoints: EndpointResources;
  readonly baseUrl: () => string;
}

const CHALLENGE_HEADER = 'WWW-Authenticate';

export function createMcpResourceServer(parts: McpResourceServerParts): McpResourceServer {
  const { issuer, scopes, offeredScopes, endpoints, baseUrl } = parts;
  const scopeParam = offeredScopes.length > 0 ? [`scope="${offeredScopes.join(' ')}"`] : [];

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
      // A service principal acts for itself, so its roles decide and scopes do not apply.
      if (kind === 'service' || endpoints.findByPath(path) === null) return;
      // Tokens of the gateway's authorization server are issued for MCP endpoints only.
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
      const params = [...existingParams, `resource_metadata="${endpoint.metadata}"`, ...scopeParam];
      return {
        ...response,
        headers: { ...response.headers, [CHALLENGE_HEADER]: `${scheme ?? ''} ${params.join(', ')}` },
      };
    },
  };
}

/** RFC 6750 section 3.1. */
const INSUFFICIENT_SCOPE = 'Bearer error="insufficient_scope"';

/** Entra scopes are requested with the API name as prefix; the token contains only the part after it. */
function isScopeGranted(required: string, granted: readonly string[]): boolean {
  const shortName = required.slice(required.lastIndexOf('/') + 1);
  // `.default` requests all consented scopes. The token contains their names instead.
  if (shortName === '.default') return granted.length > 0;
  return granted.includes(required) || granted.includes(shortName);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const queryStart = url.indexOf('?');
  return queryStart === -1 ? url : url.slice(0, queryStart);
}

/** The MCP endpoints as resources for which tokens are issued (RFC 8707, RFC 9728). Their public URLs are the identifiers. */
export interface EndpointResources {
  /** Whether the audience is an MCP endpoint of this gateway, or its whole origin. */
  readonly isEndpoint: (audience: string) => boolean;
  /** Whether a token with this audience is valid for a request to this path. */
  readonly covers: (audience: string, path: string) => boolean;
  /** The endpoint at this path; null if there is none. */
  readonly findByPath: (path: string) => EndpointResource | null;
}

interface EndpointResource {
  readonly resource: string;
  /** The URL of its metadata document. */
  readonly metadata: string;
}

/** RFC 9728 section 3: the path of the resource is appended. */
const METADATA_PATH = '/.well-known/oauth-protected-resource';
export const ALL_SERVERS_PATH = '/mcp';
const ONE_SERVER_PATH = '/mcp/:serverName';

const matchServerPath = createMatchPath(ONE_SERVER_PATH);

export function createEndpointResources({ baseUrl }: { baseUrl: () => string }): EndpointResources {
  /** The path in canonical form, because a name can be percent-encoded in several ways. */
  function canonicalPath(path: string): string | null {
    const segments = segmentsOf(path);
    if (segments.length === 2 && segments[1] === ALL_SERVERS_PATH.slice(1)) return ALL_SERVERS_PATH;
    const { serverName } = matchServerPath(segments) ?? {};
    return serverName === undefined ? null : `${ALL_SERVERS_PATH}/${encodeURIComponent(serverName)}`;
  }

  /** The canonical path of an audience, `/` for the whole origin; null if it is not an endpoint. */
  function audiencePathOf(audience: string): string | null {
    const origin = baseUrl();
    if (audience === origin || audience === `${origin}/`) return '/';
    return audience.startsWith(`${origin}/`) ? canonicalPath(audience.slice(origin.length)) : null;
  }

  return {
    isEndpoint: (audience) => audiencePathOf(audience) !== null,
    covers(audience, path) {
      const audiencePath = audiencePathOf(audience);
      const requestPath = canonicalPath(path);
      if (audiencePath === null || requestPath === null) return false;
      // A token for all servers is valid for each of them.
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
  /** The authorization server. */
  readonly issuer: () => string;
  readonly scopes: readonly string[];
  readonly baseUrl: () => string;
}

/** Clients read the document once per sign-in. */
const CACHE_ONE_HOUR = 'public, max-age=3600';

/**
 * Protected resource metadata (RFC 9728). Every server name has a document, so that the response does not reveal which
 * servers exist.
 */
function metadataRoutes({ issuer, scopes, baseUrl }: MetadataRouteParts): Route[] {
  function send(res: Response, path: string): void {
    res
      .set('Cache-Control', CACHE_ONE_HOUR)
      // Public, because MCP clients that run in web pages read it as well.
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
