import { listManageBits, getManagedServer, type ManageParts } from '@behalf/gateway';
import type { Route } from '../../http/routes.ts';

/** What the caller may do with servers, as bits: VIEW 1, EDIT 2, DELETE 4, SHARE 8. */
export function effectiveRoutes(parts: ManageParts): Route[] {
  return [
    {
      method: 'get',
      path: '/api/permissions/mcpServer/effective/all',
      access: 'signed-in',
      scope: 'mcp',
      handle(_req, res, caller) {
        res.json(listManageBits(parts, caller));
      },
    },
    {
      method: 'get',
      path: '/api/permissions/mcpServer/:id/effective',
      access: 'signed-in',
      scope: 'mcp',
      handle(req, res, caller) {
        const { id } = req.params as { id: string };
        res.json({ permissionBits: getManagedServer(parts, caller, id).bits });
      },
    },
  ];
}
