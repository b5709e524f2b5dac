import type { Response } from 'express';
import type { Route } from '../http/routes.ts';
import { ALL_SERVERS_PATH, METADATA_PATH, ONE_SERVER_PATH } from './endpointResources.ts';

export interface MetadataRouteParts {
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
export function metadataRoutes({ issuer, scopes, baseUrl }: MetadataRouteParts): Route[] {
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
    {
      method: 'get',
      path: METADATA_PATH,
      access: 'public',
      allowsCrossOrigin: true,
      handle: (_req, res) => send(res, ''),
    },
    {
      method: 'get',
      path: METADATA_PATH + ALL_SERVERS_PATH,
      access: 'public',
      allowsCrossOrigin: true,
      handle: (_req, res) => send(res, ALL_SERVERS_PATH),
    },
    {
      method: 'get',
      path: METADATA_PATH + ONE_SERVER_PATH,
      access: 'public',
      allowsCrossOrigin: true,
      handle(req, res) {
        const { serverName } = req.params as { serverName: string };
        send(res, `${ALL_SERVERS_PATH}/${encodeURIComponent(serverName)}`);
      },
    },
  ];
}
