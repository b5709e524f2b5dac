import type { JsonObject, ListKind } from '@behalf/gateway';
import { isObject } from '@behalf/kernel';
import type { FastExchange } from '../../../http/route.ts';
import { createMessageStream } from '../../../http/sse.ts';
import { metaKey } from '../era.ts';
import type { McpRequest } from '../request.ts';
import type { ResultJson } from '../results.ts';
import { invalidParams, rpcResultText } from '../rpc.ts';
import type { OpenStreams } from '../stream/openStreams.ts';
import type { ReplyParts } from '../stream/reply.ts';
import { type SubscribeLists, type SubscribeResources, listChangedMethod } from '../stream/subscriptions.ts';
import { requireTasksCapability } from './tasks.ts';

export interface ListenParts extends Pick<ReplyParts, 'clock' | 'headers'> {
  readonly results: ResultJson;
  readonly streams: OpenStreams;
  readonly subscribeLists: SubscribeLists;
  readonly subscribeResources: SubscribeResources;
}

type ListenRequest = Pick<McpRequest, 'caller' | 'endpoint' | 'id' | 'params' | 'capabilities'>;

export type Listen = ReturnType<typeof createListen>;

/** `subscriptions/listen` (MCP 2026-07-28): a stream of the requested notifications, until either side closes it. */
export function createListen({
  clock,
  headers,
  results,
  streams,
  subscribeLists,
  subscribeResources,
}: ListenParts) {
  return async ({ res }: FastExchange, mcpRequest: ListenRequest): Promise<void> => {
    const { caller, endpoint, id } = mcpRequest;
    const requested = readSubscriptionRequest(mcpRequest);
    // The client has disconnected, so no `close` event would clean up.
    if (res.closed) return;
    const stream = createMessageStream(res, { clock, headers });
    let isAcknowledged = false;
    const tag = { [metaKey.subscription]: id };
    const message = (method: string, params: JsonObject, meta: JsonObject = {}) =>
      JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta: { ...tag, ...meta } } });
    const send = (...args: Parameters<typeof message>) => stream.send(message(...args));
    const cleanups: (() => void)[] = [() => stream.close()];
    const stop = () => {
      for (const cleanup of cleanups.splice(0)) cleanup();
    };
    /** Closes the subscription as the revision defines: with a cancellation and a final result. */
    const end = () => {
      stop();
      if (!stream.isOpen) return;
      send('notifications/cancelled', { requestId: id, reason: 'The gateway closed the subscription' });
      stream.send(rpcResultText(id, results.fromGateway('modern', { _meta: tag })));
      stream.end();
    };
    res.once('close', stop);
    try {
      cleanups.push(streams.register(caller, end));
      const resources = subscribeResources(caller, endpoint, (uri) => {
        if (isAcknowledged) stream.sendLatest(uri, message('notifications/resources/updated', { uri }));
      });
      cleanups.push(() => resources.stop());
      const uris = await resources.setUris(requested.uris);
      if (!stream.isOpen) {
        stop();
        return;
      }
      const lists = subscribeLists(
        caller,
        endpoint,
        (kind) => {
          const method = listChangedMethod(kind);
          if (isAcknowledged && kinds.has(kind)) stream.sendLatest(method, message(method, {}));
        },
        { includesOwn: requested.kinds.size > 0 },
      );
      cleanups.push(() => lists.stop());
      // If the only server sends no notifications, no list can be subscribed. Of several servers, `behalf/unheard` names those.
      const kinds =
        endpoint.kind === 'one' && lists.unsubscribedServers.length > 0 ? NO_KINDS : requested.kinds;
      // The acknowledgement precedes the first notification.
      send(
        'notifications/subscriptions/acknowledged',
        { notifications: acknowledgedParams({ kinds, uris }) },
        lists.unsubscribedServers.length > 0 ? { 'behalf/unheard': lists.unsubscribedServers } : {},
      );
      isAcknowledged = true;
      if (kinds.size === 0 && uris.length === 0) end();
    } catch (error) {
      stop();
      throw error;
    }
  };
}

interface SubscriptionRequest {
  readonly kinds: ReadonlySet<ListKind>;
  readonly uris: readonly string[];
}

const memberByKind = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const;
const MAX_URIS = 100;
const NO_KINDS: ReadonlySet<ListKind> = new Set();

function readSubscriptionRequest({ params, capabilities }: ListenRequest): SubscriptionRequest {
  const { notifications } = params;
  if (!isObject(notifications)) throw invalidParams('params.notifications must be an object');
  // The gateway sends no task notifications. Clients poll their tasks.
  if (notifications['taskIds'] !== undefined) requireTasksCapability(capabilities);
  const kinds = Object.entries(memberByKind).flatMap(([kind, member]) =>
    notifications[member] === true ? [kind as ListKind] : [],
  );
  const { resourceSubscriptions: subscriptions = [] } = notifications;
  if (
    !Array.isArray(subscriptions) ||
    subscriptions.length > MAX_URIS ||
    !subscriptions.every((uri) => typeof uri === 'string')
  )
    throw invalidParams('params.notifications.resourceSubscriptions must be an array of up to 100 URIs');
  return { kinds: new Set(kinds), uris: [...new Set(subscriptions)] };
}

function acknowledgedParams({ kinds, uris }: SubscriptionRequest): JsonObject {
  return {
    ...Object.fromEntries([...kinds].map((kind) => [memberByKind[kind], true])),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  };
}
