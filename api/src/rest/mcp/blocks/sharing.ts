import { ShareRequest } from '@behalf/contracts';
import { blockSharing, shareBlock, type SaveBlockParts } from '@behalf/gateway';
import type { Route } from '../../../http.ts';
import { readBody } from '../../../middleware/body.ts';

/** With whom a block is shared, with the sets of bits that servers are shared with. */
export function blockSharingRoutes(parts: SaveBlockParts): Route[] {
  const path = '/api/permissions/block/:id';
  return [
    {
      method: 'get',
      path,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const sharing = await blockSharing(parts, caller, id);
        res.json({ resourceType: 'block', resourceId: id, ...sharing });
      },
    },
    {
      method: 'put',
      path,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const results = await shareBlock(parts, caller, id, readBody(req, ShareRequest));
        res.json({ message: 'Permissions updated successfully', results });
      },
    },
  ];
}
