import { ServerConfigRequest } from '@behalf/contracts';
import { changeServer, toEtag, type ConfigureParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { readBody } from '../../../middleware/body.ts';
import { readChangeMode } from './changeMode.ts';
import { readIfMatch } from './ifMatch.ts';

export function changeServerRoute(parts: ConfigureParts): Route {
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
