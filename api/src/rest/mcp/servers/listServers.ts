import { ServersQuery, type ServersView } from '@behalf/contracts';
import { listServers, type ViewParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { parseBody } from '../../../middleware/body.ts';

const PATH = '/api/mcp/servers';

/** Every server the caller may see: all of them, or page by page when a page is asked for. */
export function listServersRoute(parts: ViewParts): Route {
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
