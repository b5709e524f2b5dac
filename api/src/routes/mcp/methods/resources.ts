import {
  type Inbound,
  type JsonObject,
  type RoutedName,
  type UpstreamResponse,
  completeServer,
  listEndpointItems,
  readServer,
  routePrompt,
  routeResource,
} from '@behalf/gateway';
import { isObject } from '@behalf/kernel';
import { type McpRequest, type Method, createMcpInbound } from '../request.ts';
import { type RpcFault, invalidParams } from '../rpc.ts';
import { listResult } from './listResult.ts';
import { type MethodParts, createServerCallRunner } from './serverCallRunner.ts';

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
        throw invalidParams('params.name must be a string, params.arguments an object');
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

export function readUri({ params }: McpRequest): string {
  const { uri } = params;
  if (typeof uri === 'string') return uri;
  throw invalidParams('params.uri must be a string');
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
  return invalidParams(
    'params.ref must name a prompt or a resource, and params.argument the argument to complete',
  );
}
