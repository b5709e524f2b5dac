import { removeServer, type ConfigureParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { readIfMatch } from './ifMatch.ts';

export function removeServerRoute(parts: ConfigureParts): Route {
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
