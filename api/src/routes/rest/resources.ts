import { PromptRequest, ResourceRequest } from '@behalf/contracts';
import { type ListServerParts, type ReadParts, listServer, readServer } from '@behalf/gateway';
import { inboundOf } from '../../http/inbound.ts';
import { parseBody } from '../../http/request.ts';
import { type FastRoute, type Route, callerRoute } from '../../http/route.ts';
import type { ServerResponder } from './serverResponder.ts';

const PATH = '/api/mcp/servers/:serverName';

const lists = [
  { path: `${PATH}/resources`, method: 'resources/list', member: 'resources' },
  { path: `${PATH}/resources/templates`, method: 'resources/templates/list', member: 'resourceTemplates' },
  { path: `${PATH}/prompts`, method: 'prompts/list', member: 'prompts' },
] as const;

/** Resources, resource templates and prompts of a server. All pages are merged; `incomplete` reports a list that a limit cut off. */
export function listRoutes(parts: ListServerParts): Route[] {
  return lists.map(({ path, method, member }) =>
    callerRoute('get', path, 'mcp', async (req, res, caller) => {
      const inbound = inboundOf(req, res, caller);
      const { items, complete } = await listServer(parts, req.params.serverName, method, inbound);
      res.json({ [member]: items, ...(!complete && { incomplete: true }) });
    }),
  );
}

/** Reads a resource or a prompt of a server. */
export function readRoutes(parts: ReadParts, respond: ServerResponder): FastRoute[] {
  return [
    {
      method: 'post',
      path: `${PATH}/resources/read`,
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
      path: `${PATH}/prompts/:promptName/get`,
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
