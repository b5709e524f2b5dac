import { ServerCheckRequest } from '@behalf/contracts';
import { checkServerDefinition, type ConfigureParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { readBody } from '../../../middleware/body.ts';
import { readChangeMode } from './changeMode.ts';

/** Whether it could be saved like this. Nothing is. */
export function checkServerRoute(parts: ConfigureParts): Route {
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
