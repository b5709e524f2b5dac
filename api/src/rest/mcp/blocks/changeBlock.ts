import { BlockChange } from '@behalf/contracts';
import { changeBlock, toEtag, type SaveBlockParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { readBody } from '../../../middleware/body.ts';
import { readIfMatch } from '../servers/ifMatch.ts';
import { createSaveInbound } from './saveInbound.ts';

export function changeBlockRoute(parts: SaveBlockParts): Route {
  return {
    method: 'patch',
    path: '/api/mcp/blocks/:id',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const { id } = req.params as { id: string };
      const change = { ...readBody(req, BlockChange), ...readIfMatch(req) };
      const view = await changeBlock(parts, createSaveInbound(req, res, caller), id, change);
      res.set('ETag', toEtag(view.version)).json(view);
    },
  };
}
