import { PromptRequest, ResourceRequest } from '@behalf/contracts';
import { readServer, type ReadParts } from '@behalf/gateway';
import type { FastRoute } from '../../http/routes.ts';
import { parseBody } from '../../middleware/body.ts';
import type { ServerResponder } from './serverResponder.ts';

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
