import { DiscoverToolsRequest, type DiscoverToolsView } from '@behalf/contracts';
import { discoverTools, type DiscoverParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { readBody } from '../../../middleware/body.ts';
import { attemptCookies, type ServerSignInParts } from '../../../oauth/signInParts.ts';

/** The tools of a server that nobody saved, or what its user has to do before they can be seen. */
export function discoverToolsRoute(parts: DiscoverParts & Pick<ServerSignInParts, 'origins'>): Route {
  return {
    method: 'post',
    path: '/api/mcp/discover-tools',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const { view, flow } = await discoverTools(parts, caller, readBody(req, DiscoverToolsRequest));
      if (flow?.browserSecret !== undefined) {
        attemptCookies(parts).write(res, { ...flow.flow, browserSecret: flow.browserSecret });
      }
      res.json(view satisfies DiscoverToolsView);
    },
  };
}
