import {
  CreateServerRequest,
  DiscoverToolsRequest,
  type DiscoverToolsView,
  ServerCheckRequest,
  ServerConfigRequest,
  ServersQuery,
  type ServersView,
} from '@behalf/contracts';
import {
  type ConfigureParts,
  type DiscoverParts,
  type ServerChange,
  type ViewParts,
  changeServer,
  checkServerDefinition,
  createServer,
  discoverTools,
  listServers,
  removeServer,
  viewServer,
} from '@behalf/gateway';
import type { Request } from 'express';
import { readIfMatch, sendVersioned } from '../../http/etag.ts';
import { parseBody, readBody } from '../../http/request.ts';
import { type Route, signedInRoute } from '../../http/route.ts';
import { type ServerSignInParts, attemptCookies } from '../oauth/flows.ts';

const PATH = '/api/mcp/servers';

/** The server definitions that the caller may see, and those that users create. */
export function serverRoutes(parts: ConfigureParts & ViewParts): Route[] {
  return [
    // All servers that the caller may see. With `limit`, one page of them.
    signedInRoute('get', PATH, 'mcp', (req, res, caller) => {
      const query = parseBody(req.query, ServersQuery);
      const { servers, next } = listServers(parts, caller, query);
      if (next !== undefined) res.set('Link', `<${PATH}?${nextPageQuery(query, next)}>; rel="next"`);
      const view: ServersView = Object.fromEntries(servers.map((entry) => [entry.name, entry.view]));
      res.json(view);
    }),
    signedInRoute('post', PATH, 'servers', async (req, res, caller) => {
      const view = await createServer(parts, caller, readBody(req, CreateServerRequest));
      res.status(201).location(`${PATH}/${encodeURIComponent(view.serverName)}`);
      sendVersioned(res, view, view.version);
    }),
    // Validates a definition without saving it.
    signedInRoute('post', `${PATH}/check`, 'servers', async (req, res, caller) => {
      const { config, serverName: server } = readBody(req, ServerCheckRequest);
      res.json(await checkServerDefinition(parts, caller, { config, server, mode: readChangeMode(req) }));
    }),
    signedInRoute('get', `${PATH}/:serverName`, 'mcp', (req, res, caller) => {
      const view = viewServer(parts, caller, req.params.serverName);
      sendVersioned(res, view, view.version);
    }),
    signedInRoute('patch', `${PATH}/:serverName`, 'servers', async (req, res, caller) => {
      const { config } = readBody(req, ServerConfigRequest);
      const change = { config, mode: readChangeMode(req), ...readIfMatch(req) };
      const view = await changeServer(parts, caller, req.params.serverName, change);
      sendVersioned(res, view, view.version);
    }),
    signedInRoute('delete', `${PATH}/:serverName`, 'servers', async (req, res, caller) => {
      await removeServer(parts, caller, req.params.serverName, readIfMatch(req));
      res.json({ message: 'MCP server deleted successfully' });
    }),
  ];
}

/** The query of the next page for the `Link` header (RFC 8288). */
function nextPageQuery({ limit, search }: ServersQuery, after: string): string {
  const query = new URLSearchParams({ after });
  if (limit !== undefined) query.set('limit', String(limit));
  if (search !== undefined) query.set('search', search);
  return query.toString();
}

/** A merge patch (RFC 7396) changes single fields. Any other body is the whole definition, as LibreChat sends it. */
function readChangeMode(req: Request): ServerChange['mode'] {
  return typeof req.is('application/merge-patch+json') === 'string' ? 'merge' : 'replace';
}

/** Lists the tools of a definition that is not saved, or reports what its user has to do first. */
export function discoverToolsRoute(parts: DiscoverParts & Pick<ServerSignInParts, 'origins'>): Route {
  return signedInRoute('post', '/api/mcp/discover-tools', 'servers', async (req, res, caller) => {
    const { view, flow } = await discoverTools(parts, caller, readBody(req, DiscoverToolsRequest));
    if (flow?.browserSecret !== undefined) {
      attemptCookies(parts).write(res, { ...flow.flow, browserSecret: flow.browserSecret });
    }
    res.json(view satisfies DiscoverToolsView);
  });
}
