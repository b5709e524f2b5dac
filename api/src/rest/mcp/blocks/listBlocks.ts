import { BlocksQuery } from '@behalf/contracts';
import { listBlocks, type SaveBlockParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { parseBody } from '../../../middleware/body.ts';

/** The caller's own and those that are shared with them. */
export function listBlocksRoute(parts: SaveBlockParts): Route {
  return {
    method: 'get',
    path: '/api/mcp/blocks',
    access: 'signed-in',
    scope: 'mcp',
    async handle(req, res, caller) {
      res.json(await listBlocks(parts, caller, parseBody(req.query, BlocksQuery)));
    },
  };
}
