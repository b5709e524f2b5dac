import { listEndpointItems, readServer, requireResourceUpdates, routeResource } from '@behalf/gateway';
import type { Asked, Method } from '../asked.ts';
import { mcpInbound } from '../mcpInbound.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import type { Subscriptions } from '../session/subscriptions.ts';
import { createCallMethod } from './callMethod.ts';
import { listResult } from './listResult.ts';
import type { MethodParts } from './methodParts.ts';

/** What a session is told of resources that change, it is told on its stream. */
export function subscribeMethods(
  { servers, requestIds }: MethodParts,
  subscriptions: Pick<Subscriptions, 'add' | 'remove'>,
): Readonly<Record<string, Method>> {
  return {
    async 'resources/subscribe'(asked) {
      const address = addressOf(asked);
      const inbound = mcpInbound(asked, requestIds());
      // An address that leads nowhere is told at once, and one of which nothing would ever be heard.
      const { server } = await routeResource(servers, inbound, asked.endpoint, address);
      await requireResourceUpdates(servers, server, inbound);
      if (asked.session) await subscriptions.add(asked.session, address);
      return '{}';
    },
    async 'resources/unsubscribe'(asked) {
      if (asked.session) await subscriptions.remove(asked.session, addressOf(asked));
      return '{}';
    },
  };
}

export function resourceMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers, requestIds } = parts;
  const calling = createCallMethod(parts);
  const list =
    (method: 'resources/list' | 'resources/templates/list', member: string): Method =>
    async (asked) => {
      const listed = await listEndpointItems(
        servers,
        mcpInbound(asked, requestIds()),
        asked.endpoint,
        method,
      );
      return listResult(parts, asked, member, listed);
    };
  return {
    'resources/list': list('resources/list', 'resources'),
    'resources/templates/list': list('resources/templates/list', 'resourceTemplates'),
    async 'resources/read'(asked) {
      const address = addressOf(asked);
      const given = calling.inboundOf(asked);
      const { server, name: uri } = await routeResource(servers, given.inbound, asked.endpoint, address);
      return calling.run(asked, { server, what: 'resource' }, given, async (inbound) => {
        const answer = await readServer(
          servers,
          server,
          { method: 'resources/read', params: { uri } },
          inbound,
        );
        return asked.era === 'modern' && !answer.isInputRequired ? privately(answer) : answer;
      });
    },
  };
}

function addressOf({ params }: Asked): string {
  const { uri } = params;
  if (typeof uri === 'string') return uri;
  throw new RpcFault(rpcCode.invalidParams, 'params.uri must be a string');
}

type Read = Awaited<ReturnType<typeof readServer>>;

/** What was read for somebody is theirs, whatever the server says; for how long it holds, the server may say. */
function privately({ result }: Read): Read {
  const { ttlMs } = result;
  const holds = typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs >= 0 ? ttlMs : 0;
  return { result: { ...result, ttlMs: holds, cacheScope: 'private' }, json: undefined };
}
