import { createMatchPath, segmentsOf } from '../door/matchPath.ts';

/** The MCP endpoints as resources that tokens are issued for (RFC 8707, RFC 9728): their public addresses are their names. */
export interface Endpoints {
  /** Whether a token with this audience was issued for one of our endpoints, or for all of them. */
  readonly isEndpoint: (audience: string) => boolean;
  /** Whether such a token counts for a request to this path. */
  readonly covers: (audience: string, path: string) => boolean;
  /** The endpoint that answers at this path; null: none does. */
  readonly at: (path: string) => Endpoint | null;
}

export interface Endpoint {
  readonly resource: string;
  /** Where the document about it is. */
  readonly metadata: string;
}

/** RFC 9728, section 3: the path of the resource follows. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';
export const ALL_PATH = '/mcp';
export const ONE_PATH = '/mcp/:serverName';

const matchOne = createMatchPath(ONE_PATH);

export function createEndpoints({ base }: { base: () => string }): Endpoints {
  /** In one spelling: a name may be escaped in several ways. */
  function canonicalPath(path: string): string | null {
    const segments = segmentsOf(path);
    if (segments.length === 2 && segments[1] === ALL_PATH.slice(1)) return ALL_PATH;
    const { serverName } = matchOne(segments) ?? {};
    return serverName === undefined ? null : `${ALL_PATH}/${encodeURIComponent(serverName)}`;
  }

  /** The canonical path that an audience names, `/` for the whole origin; null: it is not ours. */
  function pathOf(audience: string): string | null {
    const origin = base();
    if (audience === origin || audience === `${origin}/`) return '/';
    return audience.startsWith(`${origin}/`) ? canonicalPath(audience.slice(origin.length)) : null;
  }

  return {
    isEndpoint: (audience) => pathOf(audience) !== null,
    covers(audience, path) {
      const named = pathOf(audience);
      const asked = canonicalPath(path);
      if (named === null || asked === null) return false;
      // Whoever may use all servers at once may use one.
      return named === '/' || named === ALL_PATH || named === asked;
    },
    at(path) {
      const known = canonicalPath(path);
      return known === null ? null : { resource: base() + known, metadata: base() + METADATA_PATH + known };
    },
  };
}
