import { completeServer, routePrompt, routeResource, type Inbound, type RoutedName } from '@behalf/gateway';
import type { Asked, Method } from '../asked.ts';
import { isObject } from '../message.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import { createCallMethod } from './callMethod.ts';
import type { MethodParts } from './methodParts.ts';

export function completionMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers } = parts;
  const calling = createCallMethod(parts);
  return {
    async 'completion/complete'(asked) {
      const { ref, argument, context } = asked.params;
      if (!isObject(ref) || !isObject(argument)) throw malformed();
      const given = calling.inboundOf(asked);
      const { member, routed } = await route(given.inbound, asked, ref);
      const own = { ...ref, [member]: routed.name };
      return calling.run(asked, { server: routed.server, what: 'completion' }, given, (inbound) =>
        completeServer(
          servers,
          routed.server,
          { ref: own, argument, ...(isObject(context) && { context }) },
          inbound,
        ),
      );
    },
  };

  async function route(
    inbound: Inbound,
    asked: Asked,
    { type, name, uri }: Readonly<Record<string, unknown>>,
  ): Promise<{ member: 'name' | 'uri'; routed: RoutedName }> {
    if (type === 'ref/prompt' && typeof name === 'string')
      return { member: 'name', routed: await routePrompt(servers, inbound, asked.endpoint, name) };
    if (type === 'ref/resource' && typeof uri === 'string')
      return { member: 'uri', routed: await routeResource(servers, inbound, asked.endpoint, uri) };
    throw malformed();
  }
}

function malformed(): RpcFault {
  return new RpcFault(
    rpcCode.invalidParams,
    'params.ref must name a prompt or a resource, params.argument what to complete',
  );
}
