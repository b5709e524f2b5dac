import { type OverrideView, ServerConfigRequest } from '@behalf/contracts';
import {
  type ListAllServersParts,
  type OverrideParts,
  deleteOverride,
  getOverride,
  listAllServers,
  putOverride,
} from '@behalf/gateway';
import type { Response } from 'express';
import { readIfMatch, sendVersioned } from '../../http/etag.ts';
import { readBody } from '../../http/request.ts';
import { type Route, adminRoute } from '../../http/route.ts';

const PATH = '/api/admin/mcp/servers';

/** All servers of the administrator's tenant, and the overrides of their definitions. */
export function adminServerRoutes(parts: OverrideParts & ListAllServersParts): Route[] {
  return [
    adminRoute('get', PATH, async (_req, res, caller) => res.json(await listAllServers(parts, caller))),
    adminRoute('get', `${PATH}/:serverName`, async (req, res, caller) => {
      sendOverride(res, await getOverride(parts, caller, req.params.serverName));
    }),
    adminRoute('put', `${PATH}/:serverName`, async (req, res, caller) => {
      const { config } = readBody(req, ServerConfigRequest);
      sendOverride(
        res,
        await putOverride(parts, caller, req.params.serverName, { config, ...readIfMatch(req) }),
      );
    }),
    adminRoute('delete', `${PATH}/:serverName`, async (req, res, caller) => {
      await deleteOverride(parts, caller, req.params.serverName, readIfMatch(req));
      res.json({ message: 'Override deleted successfully' });
    }),
  ];
}

function sendOverride(res: Response, view: OverrideView): void {
  sendVersioned(res, view, view.override?.version);
}
