import { listEndpointItems, readServer, requireResourceUpdates, routeResource } from '@behalf/gateway';
import type { McpRequest, Method } from '../mcpRequest.ts';
import { createMcpInbound } from '../mcpInbound.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import type { SessionSubscriptions } from '../session/subscriptions.ts';
import { createServerCallRunner } from './serverCallRunner.ts';
import { listResult } from './listResult.ts';
import type { MethodParts } from './methodParts.ts';

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
        return mcpRequest.era === 'modern' && !response.isInputRequired
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
  return { result: { ...result, ttlMs: validTtlMs, cacheScope: 'private' }, json: undefined };
}
