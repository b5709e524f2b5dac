import { ShareRequest, type ServerPermissionsView } from '@behalf/contracts';
import { shareServer, sharingOf, type ShareParts } from '@behalf/gateway';
import type { Route } from '../../http.ts';
import { readBody } from '../../middleware/body.ts';

/** With whom a server is shared. The id is the server's `dbId`; of a server of the operator its name. */
export function sharingRoutes(parts: ShareParts): Route[] {
  const path = '/api/permissions/mcpServer/:id';
  return [
    {
      method: 'get',
      path,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const sharing = await sharingOf(parts, caller, id);
        const view: ServerPermissionsView = { resourceType: 'mcpServer', resourceId: id, ...sharing };
        res.json(view);
      },
    },
    {
      method: 'put',
      path,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const results = await shareServer(parts, caller, id, readBody(req, ShareRequest));
        res.json({ message: 'Permissions updated successfully', results });
      },
    },
  ];
}
