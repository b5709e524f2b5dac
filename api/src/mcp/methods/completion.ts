import { completeServer, routePrompt, routeResource, type Inbound, type RoutedName } from '@behalf/gateway';
import type { McpRequest, Method } from '../mcpRequest.ts';
import { isObject } from '../rpcMessage.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import { createServerCallRunner } from './serverCallRunner.ts';
import type { MethodParts } from './methodParts.ts';

export function completionMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers } = parts;
  const runner = createServerCallRunner(parts);
  return {
    async 'completion/complete'(mcpRequest) {
      const { ref, argument, context } = mcpRequest.params;
      if (!isObject(ref) || !isObject(argument)) throw malformedParams();
      const input = runner.toInbound(mcpRequest);
      const { member, routed } = await route(input.inbound, mcpRequest, ref);
      const upstreamRef = { ...ref, [member]: routed.name };
      return runner.run(mcpRequest, { server: routed.server, operation: 'completion' }, input, (inbound) =>
        completeServer(
          servers,
          routed.server,
          { ref: upstreamRef, argument, ...(isObject(context) && { context }) },
          inbound,
        ),
      );
    },
  };

  async function route(
    inbound: Inbound,
    mcpRequest: McpRequest,
    { type, name, uri }: Readonly<Record<string, unknown>>,
  ): Promise<{ member: 'name' | 'uri'; routed: RoutedName }> {
    if (type === 'ref/prompt' && typeof name === 'string')
      return { member: 'name', routed: await routePrompt(servers, inbound, mcpRequest.endpoint, name) };
    if (type === 'ref/resource' && typeof uri === 'string')
      return { member: 'uri', routed: await routeResource(servers, inbound, mcpRequest.endpoint, uri) };
    throw malformedParams();
  }
}

function malformedParams(): RpcFault {
  return new RpcFault(
    rpcCode.invalidParams,
    'params.ref must name a prompt or a resource, and params.argument the argument to complete',
  );
}
