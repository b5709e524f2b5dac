import {
  type Inbound,
  type RoutedName,
  completeServer,
  listEndpointItems,
  readServer,
  requireResourceUpdates,
  routePrompt,
  routeResource,
} from '@behalf/gateway';
import { type McpRequest, type Method, createMcpInbound } from '../request.ts';
import { RpcFault, isObject, rpcCode } from '../rpc.ts';
import type { SessionSubscriptions } from '../session/sharedLists.ts';
import { listResult } from './listResult.ts';
import { type MethodParts, createServerCallRunner } from './serverCallRunner.ts';

/** What a session is told of resources that change, it is told on its stream. */
export function subscribeMethods(
  { servers, requestIds }: MethodParts,
  subscriptions: Pick<SessionSubscriptions, 'add' | 'remove'>,
): Readonly<Record<string, Method>> {
  return {
    async 'resources/subscribe'(mcpRequest) {
      const publicUri = readUri(mcpRequest);
      const inbound = createMcpInbound(mcpRequest, requestIds());
      // An address that leads nowhere is told at once, and one of which nothing would ever be heard.
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

export function resourceMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers, requestIds } = parts;
  const runner = createServerCallRunner(parts);
  const list =
    (method: 'resources/list' | 'resources/templates/list', member: string): Method =>
    async (mcpRequest) => {
      const result = await listEndpointItems(
        servers,
        createMcpInbound(mcpRequest, requestIds()),
        mcpRequest.endpoint,
        method,
      );
      return listResult(parts, mcpRequest, member, result);
    };
  return {
    'resources/list': list('resources/list', 'resources'),
    'resources/templates/list': list('resources/templates/list', 'resourceTemplates'),
    async 'resources/read'(mcpRequest) {
      const publicUri = readUri(mcpRequest);
      const input = runner.toInbound(mcpRequest);
      const { server, name: uri } = await routeResource(
        servers,
        input.inbound,
        mcpRequest.endpoint,
        publicUri,
      );
      return runner.run(mcpRequest, { server, operation: 'resource' }, input, async (inbound) => {
        const response = await readServer(
          servers,
          server,
          { method: 'resources/read', params: { uri } },
          inbound,
        );
        return mcpRequest.era === 'modern' && response.kind === 'result'
          ? withPrivateCache(response)
          : response;
      });
    },
  };
}

function readUri({ params }: McpRequest): string {
  const { uri } = params;
  if (typeof uri === 'string') return uri;
  throw new RpcFault(rpcCode.invalidParams, 'params.uri must be a string');
}

type ReadResponse = Awaited<ReturnType<typeof readServer>>;

/** What was read for somebody is theirs, whatever the server says; for how long it holds, the server may say. */
function withPrivateCache({ result }: ReadResponse): ReadResponse {
  const { ttlMs } = result;
  const validTtlMs = typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs >= 0 ? ttlMs : 0;
  return {
    kind: 'result',
    result: { ...result, ttlMs: validTtlMs, cacheScope: 'private' },
    json: undefined,
  };
}

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
