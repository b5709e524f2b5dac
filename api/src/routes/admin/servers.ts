import { type OverrideView, ServerConfigRequest } from '@behalf/contracts';
import {
  type ListAllServersParts,
  type OverrideParts,
  deleteOverride,
  getOverride,
  listAllServers,
  putOverride,
  toEtag,
} from '@behalf/gateway';
import type { Response } from 'express';
import { readBody, readIfMatch } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';

/** What an administrator sees and overrides of the servers of their tenant. */
export function adminServerRoutes(parts: OverrideParts & ListAllServersParts): Route[] {
  return [
    {
      method: 'get',
      path: '/api/admin/mcp/servers',
      access: 'admin',
      scope: 'admin',
      async handle(_req, res, caller) {
        res.json(await listAllServers(parts, caller));
      },
    },
    {
      method: 'get',
      path: '/api/admin/mcp/servers/:serverName',
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        sendOverride(res, await getOverride(parts, caller, serverName));
      },
    },
    {
      method: 'put',
      path: '/api/admin/mcp/servers/:serverName',
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        const { config } = readBody(req, ServerConfigRequest);
        sendOverride(res, await putOverride(parts, caller, serverName, { config, ...readIfMatch(req) }));
      },
    },
    {
      method: 'delete',
      path: '/api/admin/mcp/servers/:serverName',
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        await deleteOverride(parts, caller, serverName, readIfMatch(req));
        res.json({ message: 'Override deleted successfully' });
      },
    },
  ];
}

function sendOverride(res: Response, view: OverrideView): void {
  if (view.override) res.set('ETag', toEtag(view.override.version));
  res.json(view);
}
