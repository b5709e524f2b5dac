import { listEndpointItems, readServer, routePrompt } from '@behalf/gateway';
import type { Method } from '../mcpRequest.ts';
import { createMcpInbound } from '../mcpInbound.ts';
import { isObject } from '../rpcMessage.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import { createServerCallRunner } from './serverCallRunner.ts';
import { listResult } from './listResult.ts';
import type { MethodParts } from './methodParts.ts';

export function promptMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers, requestIds } = parts;
  const runner = createServerCallRunner(parts);
  return {
    async 'prompts/list'(mcpRequest) {
      const inbound = createMcpInbound(mcpRequest, requestIds());
      const list = await listEndpointItems(servers, inbound, mcpRequest.endpoint, 'prompts/list');
      return listResult(parts, mcpRequest, 'prompts', list);
    },
    async 'prompts/get'(mcpRequest) {
      const { name: publicName, arguments: args = {} } = mcpRequest.params;
      if (typeof publicName !== 'string' || !isObject(args))
        throw new RpcFault(rpcCode.invalidParams, 'params.name must be a string, params.arguments an object');
      const input = runner.toInbound(mcpRequest);
      const { server, name } = await routePrompt(servers, input.inbound, mcpRequest.endpoint, publicName);
      return runner.run(mcpRequest, { server, operation: `prompt ${name}` }, input, (inbound) =>
        readServer(servers, server, { method: 'prompts/get', params: { name, arguments: args } }, inbound),
      );
    },
  };
}
