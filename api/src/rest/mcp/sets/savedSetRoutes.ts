import { SetChange, SetRequest, SetsQuery } from '@behalf/contracts';
import {
  changeSet,
  createSet,
  toEtag,
  listSets,
  removeSet,
  viewSet,
  type SaveSetParts,
} from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { parseBody, readBody } from '../../../middleware/body.ts';
import { readIfMatch } from '../servers/ifMatch.ts';

/** Blocks that people saved in an order. */
export function savedSetRoutes(parts: SaveSetParts): Route[] {
  const path = '/api/mcp/sets';
  const setPath = `${path}/:id`;
  return [
    {
      method: 'get',
      path,
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        res.json(await listSets(parts, caller, parseBody(req.query, SetsQuery)));
      },
    },
    {
      method: 'post',
      path,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const view = await createSet(parts, caller, readBody(req, SetRequest));
        res.set('ETag', toEtag(view.version)).location(`${path}/${encodeURIComponent(view.id)}`);
        res.status(201).json(view);
      },
    },
    {
      method: 'get',
      path: setPath,
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const view = await viewSet(parts, caller, id);
        res.set('ETag', toEtag(view.version)).json(view);
      },
    },
    {
      method: 'patch',
      path: setPath,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const change = { ...readBody(req, SetChange), ...readIfMatch(req) };
        const view = await changeSet(parts, caller, id, change);
        res.set('ETag', toEtag(view.version)).json(view);
      },
    },
    {
      method: 'delete',
      path: setPath,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        await removeSet(parts, caller, id, readIfMatch(req));
        res.status(204).end();
      },
    },
  ];
}
