import { ConsentQuery } from '@behalf/contracts';
import { GatewayError, type RequirePermission } from '@behalf/gateway';
import type { Route } from '../http/routes.ts';
import { parseBody } from '../middleware/body.ts';
import type { ConnectLinks } from './connectLinks.ts';

export interface ConnectLinkRouteParts {
  readonly requirePermission: () => RequirePermission;
  readonly connectLinks: Pick<ConnectLinks, 'validate'>;
}

/**
 * Whether it is the signed-in user whom a client was told to send to the page of a server. Asked by that page before it offers
 * anything. Nothing is looked up: to others, a server that they do not see and one that they do answer alike.
 */
export function connectLinkRoute({ connectLinks, requirePermission }: ConnectLinkRouteParts): Route {
  return {
    method: 'get',
    path: '/api/mcp/:serverName/oauth/asked',
    access: 'signed-in',
    // Of people in a browser: a program has no page to open.
    scope: 'none',
    handle(req, res, caller) {
      requirePermission()(caller, 'USE');
      const { serverName } = req.params as { serverName: string };
      const result = connectLinks.validate(caller, serverName, parseBody(req.query, ConsentQuery).for);
      if (result === 'foreign') throw new GatewayError('MCP_CONNECT_LINK_FORBIDDEN');
      if (result === 'expired') throw new GatewayError('MCP_CONNECT_LINK_EXPIRED');
      res.json({ success: true });
    },
  };
}
