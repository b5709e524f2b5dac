import { CreateServerRequest } from '@behalf/contracts';
import { createServer, toEtag, type ConfigureParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { readBody } from '../../../middleware/body.ts';

export function createServerRoute(parts: ConfigureParts): Route {
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
