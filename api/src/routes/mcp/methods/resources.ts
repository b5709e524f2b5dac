import {
  type Inbound,
  type JsonObject,
  type RoutedName,
  type UpstreamResponse,
  completeServer,
  listEndpointItems,
  readServer,
  requireResourceUpdates,
  routePrompt,
  routeResource,
} from '@behalf/gateway';
import { isObject } from '@behalf/kernel';
import { type McpRequest, type Method, createMcpInbound } from '../request.ts';
import { RpcFault, rpcCode } from '../rpc.ts';
import type { SessionSubscriptions } from '../session/sessionLists.ts';
import { listResult } from './listResult.ts';
import { type MethodParts, createServerCallRunner } from './serverCallRunner.ts';

/** `resources/subscribe` of legacy sessions. The notifications arrive on the stream of the session. */
export function subscribeMethods(
  { servers, requestIds }: MethodParts,
  subscriptions: Pick<SessionSubscriptions, 'add' | 'remove'>,
): Readonly<Record<string, Method>> {
  return {
    async 'resources/subscribe'(mcpRequest) {
      const publicUri = readUri(mcpRequest);
      const inbound = createMcpInbound(mcpRequest, requestIds());
      // Refuse an unknown URI, and a server that sends no updates, instead of a subscription without notifications.
      const { server } = await routeResource(servers, inbound, mcpRequest.endpoint, publicUri);
      await requireResourceUpdates(servers, server, inbound);
      if (mcpRequest.session) await subscriptions.add(mcpRequest.session, publicUri);
      return '{}';
    },
    async 'resources/unsubscribe'(mcpRequest) {
      if (mcpRequest.session) await subscriptions.remove(mcpRequest.session, readUri(mcpRequest));
      return '{}';
    },
  };
}

/** Resources, prompts and completion. */
export function resourceMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers, requestIds } = parts;
  const runner = createServerCallRunner(parts);

  const list =
    (method: 'resources/list' | 'resources/templates/list' | 'prompts/list', member: string): Method =>
    async (mcpRequest) => {
      const inbound = createMcpInbound(mcpRequest, requestIds());
      const items = await listEndpointItems(servers, inbound, mcpRequest.endpoint, method);
      return listResult(parts, mcpRequest, member, items);
    };

  async function routeReference(
    inbound: Inbound,
    { endpoint }: McpRequest,
    { type, name, uri }: JsonObject,
  ): Promise<{ member: 'name' | 'uri'; routed: RoutedName }> {
    if (type === 'ref/prompt' && typeof name === 'string')
      return { member: 'name', routed: await routePrompt(servers, inbound, endpoint, name) };
    if (type === 'ref/resource' && typeof uri === 'string')
      return { member: 'uri', routed: await routeResource(servers, inbound, endpoint, uri) };
    throw malformedReference();
  }

  return {
    'resources/list': list('resources/list', 'resources'),
    'resources/templates/list': list('resources/templates/list', 'resourceTemplates'),
    'prompts/list': list('prompts/list', 'prompts'),
    async 'resources/read'(mcpRequest) {
      const publicUri = readUri(mcpRequest);
      const input = runner.toInbound(mcpRequest);
      const { server, name } = await routeResource(servers, input.inbound, mcpRequest.endpoint, publicUri);
      return runner.run(mcpRequest, { server, operation: 'resource' }, input, async (inbound) => {
        const readRequest = { method: 'resources/read', params: { uri: name } } as const;
        const response = await readServer(servers, server, readRequest, inbound);
        return mcpRequest.era === 'modern' && response.kind === 'result'
          ? withPrivateCache(response)
          : response;
      });
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
    async 'completion/complete'(mcpRequest) {
      const { ref, argument, context } = mcpRequest.params;
      if (!isObject(ref) || !isObject(argument)) throw malformedReference();
      const input = runner.toInbound(mcpRequest);
      const { member, routed } = await routeReference(input.inbound, mcpRequest, ref);
      const params = {
        ref: { ...ref, [member]: routed.name },
        argument,
        ...(isObject(context) && { context }),
      };
      return runner.run(mcpRequest, { server: routed.server, operation: 'completion' }, input, (inbound) =>
        completeServer(servers, routed.server, params, inbound),
      );
    },
  };
}

function readUri({ params }: McpRequest): string {
  const { uri } = params;
  if (typeof uri === 'string') return uri;
  throw new RpcFault(rpcCode.invalidParams, 'params.uri must be a string');
}

/** The content is private to the caller, whatever `cacheScope` the server declared. The server may choose the lifetime. */
function withPrivateCache({ result }: UpstreamResponse): UpstreamResponse {
  const { ttlMs } = result;
  const validTtlMs = typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs >= 0 ? ttlMs : 0;
  return {
    kind: 'result',
    result: { ...result, ttlMs: validTtlMs, cacheScope: 'private' },
    json: undefined,
  };
}

function malformedReference(): RpcFault {
  return new RpcFault(
    rpcCode.invalidParams,
    'params.ref must name a prompt or a resource, and params.argument the argument to complete',
  );
}
