import { PromptRequest, ResourceRequest } from '@behalf/contracts';
import {
  type ListMethod,
  type ListServerParts,
  type ReadParts,
  listServer,
  readServer,
} from '@behalf/gateway';
import { createDisconnectSignal, parseBody } from '../../http/request.ts';
import type { ExpressRoute, FastRoute, Route } from '../../http/route.ts';
import { type ServerResponder, createRestInbound } from './serverResponder.ts';

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

/** The two ways to read what a server has besides tools. */
export function readRoutes(parts: ReadParts, respond: ServerResponder): FastRoute[] {
  return [
    {
      method: 'post',
      path: '/api/mcp/servers/:serverName/resources/read',
      access: 'caller',
      scope: 'mcp',
      handleFast(exchange) {
        const { serverName: server = '' } = exchange.params;
        const { uri, request } = parseBody(exchange.body, ResourceRequest);
        return respond(exchange, {
          server,
          operation: 'resource',
          request,
          work: (inbound) =>
            readServer(parts, server, { method: 'resources/read', params: { uri } }, inbound),
        });
      },
    },
    {
      method: 'post',
      path: '/api/mcp/servers/:serverName/prompts/:promptName/get',
      access: 'caller',
      scope: 'mcp',
      handleFast(exchange) {
        const { serverName: server = '', promptName: name = '' } = exchange.params;
        const { arguments: args, request } = parseBody(exchange.body, PromptRequest);
        return respond(exchange, {
          server,
          operation: `prompt ${name}`,
          request,
          work: (inbound) =>
            readServer(parts, server, { method: 'prompts/get', params: { name, arguments: args } }, inbound),
        });
      },
    },
  ];
}
