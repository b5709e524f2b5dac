import { createMatchPath, segmentsOf } from '../http/matchPath.ts';

/** The MCP endpoints as resources that tokens are issued for (RFC 8707, RFC 9728): their public addresses are their names. */
export interface EndpointResources {
  /** Whether a token with this audience was issued for one of our endpoints, or for all of them. */
  readonly isEndpoint: (audience: string) => boolean;
  /** Whether such a token counts for a request to this path. */
  readonly covers: (audience: string, path: string) => boolean;
  /** The endpoint that answers at this path; null: none does. */
  readonly findByPath: (path: string) => EndpointResource | null;
}

export interface EndpointResource {
  readonly resource: string;
  /** Where the document about it is. */
  readonly metadata: string;
}

/** RFC 9728, section 3: the path of the resource follows. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';
export const ALL_SERVERS_PATH = '/mcp';
export const ONE_SERVER_PATH = '/mcp/:serverName';

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
