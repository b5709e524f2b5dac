import { toEtag, viewBlock, type SaveBlockParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';

export function viewBlockRoute(parts: SaveBlockParts): Route {
  return {
    method: 'get',
    path: '/api/mcp/blocks/:id',
    access: 'signed-in',
    scope: 'mcp',
    async handle(req, res, caller) {
      const { id } = req.params as { id: string };
      const view = await viewBlock(parts, caller, id);
      res.set('ETag', toEtag(view.version)).json(view);
    },
  };
}
