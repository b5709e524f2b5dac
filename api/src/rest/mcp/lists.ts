import { listServer, type ListMethod, type ListServerParts } from '@behalf/gateway';
import type { ExpressRoute, Route } from '../../http/routes.ts';
import { createDisconnectSignal } from '../../middleware/callerDisconnect.ts';
import { createRestInbound } from './inbound.ts';

type Handler = Pick<Extract<ExpressRoute, { access: 'caller' }>, 'handle'>;

/** What a server has besides tools, whole: pages are put together here, and `incomplete` says when a limit cut them. */
export function listRoutes(parts: ListServerParts): Route[] {
  const listHandler = (method: ListMethod, member: string): Handler => ({
    async handle(req, res, caller) {
      const { serverName } = req.params as { serverName: string };
      const inbound = createRestInbound({
        caller,
        headers: req.headers,
        signal: createDisconnectSignal(res),
      });
      const { items, complete } = await listServer(parts, serverName, method, inbound);
      res.json({ [member]: items, ...(!complete && { incomplete: true }) });
    },
  });
  return [
    {
      method: 'get',
      path: '/api/mcp/servers/:serverName/resources',
      access: 'caller',
      scope: 'mcp',
      ...listHandler('resources/list', 'resources'),
    },
    {
      method: 'get',
      path: '/api/mcp/servers/:serverName/resources/templates',
      access: 'caller',
      scope: 'mcp',
      ...listHandler('resources/templates/list', 'resourceTemplates'),
    },
    {
      method: 'get',
      path: '/api/mcp/servers/:serverName/prompts',
      access: 'caller',
      scope: 'mcp',
      ...listHandler('prompts/list', 'prompts'),
    },
  ];
}
