import { toEtag, viewServer, type ViewParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';

/** One server, whoever defined it, as the caller may see it. */
export function viewServerRoute(parts: ViewParts): Route {
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
