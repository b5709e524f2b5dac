import { listEndpointItems, readServer, routePrompt } from '@behalf/gateway';
import type { Method } from '../asked.ts';
import { mcpInbound } from '../mcpInbound.ts';
import { isObject } from '../message.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import { createCallMethod } from './callMethod.ts';
import { listResult } from './listResult.ts';
import type { MethodParts } from './methodParts.ts';

export function promptMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers, requestIds } = parts;
  const calling = createCallMethod(parts);
  return {
    async 'prompts/list'(asked) {
      const inbound = mcpInbound(asked, requestIds());
      const listed = await listEndpointItems(servers, inbound, asked.endpoint, 'prompts/list');
      return listResult(parts, asked, 'prompts', listed);
    },
    async 'prompts/get'(asked) {
      const { name: publicName, arguments: args = {} } = asked.params;
      if (typeof publicName !== 'string' || !isObject(args))
        throw new RpcFault(rpcCode.invalidParams, 'params.name must be a string, params.arguments an object');
      const given = calling.inboundOf(asked);
      const { server, name } = await routePrompt(servers, given.inbound, asked.endpoint, publicName);
      return calling.run(asked, { server, what: `prompt ${name}` }, given, (inbound) =>
        readServer(servers, server, { method: 'prompts/get', params: { name, arguments: args } }, inbound),
      );
    },
  };
}
