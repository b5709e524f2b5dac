import { BlockRequest } from '@behalf/contracts';
import { createBlock, toEtag, type SaveBlockParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { readBody } from '../../../middleware/body.ts';
import { createSaveInbound } from './saveInbound.ts';

export function createBlockRoute(parts: SaveBlockParts): Route {
  return {
    method: 'post',
    path: '/api/mcp/blocks',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const view = await createBlock(parts, createSaveInbound(req, res, caller), readBody(req, BlockRequest));
      res.set('ETag', toEtag(view.version));
      res
        .status(201)
        .location(`/api/mcp/blocks/${encodeURIComponent(view.id)}`)
        .json(view);
    },
  };
}
