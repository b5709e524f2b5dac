import { BlockChange } from '@behalf/contracts';
import { changeBlock, toEtag, type SaveBlockParts } from '@behalf/gateway';
import type { Route } from '../../../http.ts';
import { readBody } from '../../../middleware/body.ts';
import { conditionOf } from '../servers/condition.ts';
import { savingOf } from './savingOf.ts';

export function changeBlockRoute(parts: SaveBlockParts): Route {
  return {
    method: 'patch',
    path: '/api/mcp/blocks/:id',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const { id } = req.params as { id: string };
      const change = { ...readBody(req, BlockChange), ...conditionOf(req) };
      const view = await changeBlock(parts, savingOf(req, res, caller), id, change);
      res.set('ETag', toEtag(view.version)).json(view);
    },
  };
}
