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
  toEtag,
  viewServer,
} from '@behalf/gateway';
import type { Request } from 'express';
import { parseBody, readBody, readIfMatch } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';
import { type ServerSignInParts, attemptCookies } from '../oauth/flows.ts';

/** Servers that users define, and those they find. */
export function serverRoutes(parts: ConfigureParts & ViewParts): Route[] {
  return [
    listServersRoute(parts),
    createServerRoute(parts),
    checkServerRoute(parts),
    viewServerRoute(parts),
    changeServerRoute(parts),
    removeServerRoute(parts),
  ];
}

const PATH = '/api/mcp/servers';

/** Every server the caller may see: all of them, or page by page when a page is asked for. */
function listServersRoute(parts: ViewParts): Route {
  return {
    method: 'get',
    path: '/api/mcp/servers',
    access: 'signed-in',
    scope: 'mcp',
    handle(req, res, caller) {
      const query = parseBody(req.query, ServersQuery);
      const { servers, next } = listServers(parts, caller, query);
      if (next !== undefined) res.set('Link', `<${PATH}?${nextPageQuery(query, next)}>; rel="next"`);
      const view: ServersView = Object.fromEntries(servers.map((entry) => [entry.name, entry.view]));
      res.json(view);
    },
  };
}

/** RFC 8288: the same question, from there on. */
function nextPageQuery({ limit, search }: ServersQuery, after: string): string {
  const query = new URLSearchParams({ after });
  if (limit !== undefined) query.set('limit', String(limit));
  if (search !== undefined) query.set('search', search);
  return query.toString();
}

function createServerRoute(parts: ConfigureParts): Route {
  return {
    method: 'post',
    path: '/api/mcp/servers',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const view = await createServer(parts, caller, readBody(req, CreateServerRequest));
      if (view.version !== undefined) res.set('ETag', toEtag(view.version));
      res
        .status(201)
        .location(`/api/mcp/servers/${encodeURIComponent(view.serverName)}`)
        .json(view);
    },
  };
}

/** Whether it could be saved like this. Nothing is. */
function checkServerRoute(parts: ConfigureParts): Route {
  return {
    method: 'post',
    path: '/api/mcp/servers/check',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const { config, serverName: server } = readBody(req, ServerCheckRequest);
      res.json(await checkServerDefinition(parts, caller, { config, server, mode: readChangeMode(req) }));
    },
  };
}

/** One server, whoever defined it, as the caller may see it. */
function viewServerRoute(parts: ViewParts): Route {
  return {
    method: 'get',
    path: '/api/mcp/servers/:serverName',
    access: 'signed-in',
    scope: 'mcp',
    handle(req, res, caller) {
      const { serverName } = req.params as { serverName: string };
      const view = viewServer(parts, caller, serverName);
      if (view.version !== undefined) res.set('ETag', toEtag(view.version));
      res.json(view);
    },
  };
}

function changeServerRoute(parts: ConfigureParts): Route {
  return {
    method: 'patch',
    path: '/api/mcp/servers/:serverName',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const { serverName } = req.params as { serverName: string };
      const { config } = readBody(req, ServerConfigRequest);
      const mode = readChangeMode(req);
      const view = await changeServer(parts, caller, serverName, { config, mode, ...readIfMatch(req) });
      if (view.version !== undefined) res.set('ETag', toEtag(view.version));
      res.json(view);
    },
  };
}

/** The whole definition anew, as existing front ends send it; as a merge patch (RFC 7396) only what changes. */
function readChangeMode(req: Request): ServerChange['mode'] {
  return typeof req.is('application/merge-patch+json') === 'string' ? 'merge' : 'replace';
}

function removeServerRoute(parts: ConfigureParts): Route {
  return {
    method: 'delete',
    path: '/api/mcp/servers/:serverName',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const { serverName } = req.params as { serverName: string };
      await removeServer(parts, caller, serverName, readIfMatch(req));
      res.json({ message: 'MCP server deleted successfully' });
    },
  };
}

/** The tools of a server that nobody saved, or what its user has to do before they can be seen. */
export function discoverToolsRoute(parts: DiscoverParts & Pick<ServerSignInParts, 'origins'>): Route {
  return {
    method: 'post',
    path: '/api/mcp/discover-tools',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const { view, flow } = await discoverTools(parts, caller, readBody(req, DiscoverToolsRequest));
      if (flow?.browserSecret !== undefined) {
        attemptCookies(parts).write(res, { ...flow.flow, browserSecret: flow.browserSecret });
      }
      res.json(view satisfies DiscoverToolsView);
    },
  };
}
