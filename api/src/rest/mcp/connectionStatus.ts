import type { ConnectionStatusesView, ConnectionStatusView } from '@behalf/contracts';
import { getServerStatus, getServerStatuses, type StatusParts } from '@behalf/gateway';
import type { Route } from '../../http/routes.ts';

export interface StatusRouteParts extends StatusParts {
  /** How long a user has for a sign-in, in milliseconds. */
  oauthTimeoutMs: number;
}

export function statusRoutes(parts: StatusRouteParts): Route[] {
  return [
    {
      method: 'get',
      path: '/api/mcp/connection/status',
      access: 'signed-in',
      scope: 'mcp',
      async handle(_req, res, caller) {
        const view: ConnectionStatusesView = {
          success: true,
          connectionStatus: await getServerStatuses(parts, caller),
          oauthTimeout: parts.oauthTimeoutMs,
        };
        res.json(view);
      },
    },
    {
      method: 'get',
      path: '/api/mcp/connection/status/:serverName',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        const { connectionState, ...rest } = await getServerStatus(parts, caller, serverName);
        const view: ConnectionStatusView = {
          success: true,
          serverName,
          connectionStatus: connectionState,
          ...rest,
        };
        res.json(view);
      },
    },
  ];
}
