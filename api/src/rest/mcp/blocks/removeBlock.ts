import { removeBlock, type SaveBlockParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { readIfMatch } from '../servers/ifMatch.ts';

export function removeBlockRoute(parts: SaveBlockParts): Route {
  return {
    method: 'delete',
    path: '/api/mcp/blocks/:id',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const { id } = req.params as { id: string };
      await removeBlock(parts, caller, id, readIfMatch(req));
      res.status(204).end();
    },
  };
}
