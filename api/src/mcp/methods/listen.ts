import type { JsonObject, ListKind } from '@behalf/gateway';
import type { HotExchange } from '../../http.ts';
import type { Asked } from '../asked.ts';
import { isObject } from '../message.ts';
import type { ResultJson } from '../resultJson.ts';
import { resultText, RpcFault, rpcCode } from '../rpcFault.ts';
import type { FollowLists } from '../stream/followLists.ts';
import type { FollowResources } from '../stream/followResources.ts';
import { createMessageStream } from '../stream/messageStream.ts';
import type { OpenStreams } from '../stream/openStreams.ts';
import type { ReplyParts } from '../stream/reply.ts';
import { metaKey } from '../versions.ts';
import { requireTasks } from './tasks.ts';

export interface ListenParts extends Pick<ReplyParts, 'clock' | 'headers'> {
  readonly results: ResultJson;
  readonly streams: OpenStreams;
  readonly followLists: FollowLists;
  readonly followResources: FollowResources;
}

/** `subscriptions/listen`: a stream of what changes, of the kinds that were asked for. It ends when either side ends it. */
export type Listen = (
  exchange: HotExchange,
  asked: Pick<Asked, 'caller' | 'endpoint' | 'id' | 'params' | 'capabilities'>,
) => Promise<void>;

export function createListen({
  clock,
  headers,
  results,
  streams,
  followLists,
  followResources,
}: ListenParts): Listen {
  return async ({ res }, asked) => {
    const { caller, endpoint, id } = asked;
    const wanted = readWanted(asked);
    // They left before it came to this: nothing would ever tell that it is over.
    if (res.closed) return;
    const stream = createMessageStream(res, { clock, headers });
    let acknowledged = false;
    const tag = { [metaKey.subscription]: id };
    const message = (method: string, params: JsonObject, meta: JsonObject = {}) =>
      JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta: { ...tag, ...meta } } });
    const tell = (...said: Parameters<typeof message>) => stream.send(message(...said));
    const stops: (() => void)[] = [() => stream.close()];
    const stop = () => {
      for (const one of stops.splice(0)) one();
    };
    /** In good order: whoever listens is told that nothing more comes. */
    const end = () => {
      stop();
      if (!stream.open) return;
      tell('notifications/cancelled', { requestId: id, reason: 'The gateway ends the subscription' });
      stream.send(resultText(id, results.own('modern', { _meta: tag })));
      stream.end();
    };
    res.once('close', stop);
    try {
      stops.push(streams.enter(caller, end));
      const resources = followResources(caller, endpoint, (uri) => {
        if (acknowledged) stream.tell(uri, message('notifications/resources/updated', { uri }));
      });
      stops.push(() => resources.stop());
      const addresses = await resources.follow(wanted.addresses);
      if (!stream.open) {
        stop();
        return;
      }
      const lists = followLists(
        caller,
        endpoint,
        ({ kind, method, params }) => {
          if (acknowledged && kinds.has(kind)) stream.tell(method, message(method, params));
        },
        { own: wanted.kinds.size > 0 },
      );
      stops.push(() => lists.stop());
      // Of several servers there is always something to be told; those that are not heard are named.
      const kinds = endpoint.kind === 'one' && lists.unheard.length > 0 ? noKinds : wanted.kinds;
      // First what it will hear of, then that.
      tell(
        'notifications/subscriptions/acknowledged',
        { notifications: honoured({ kinds, addresses }) },
        lists.unheard.length > 0 ? { 'behalf/unheard': lists.unheard } : {},
      );
      acknowledged = true;
      if (kinds.size === 0 && addresses.length === 0) end();
    } catch (error) {
      stop();
      throw error;
    }
  };
}

interface Wanted {
  readonly kinds: ReadonlySet<ListKind>;
  readonly addresses: readonly string[];
}

const members = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const;
const MOST_ADDRESSES = 100;
const noKinds: ReadonlySet<ListKind> = new Set();

function readWanted({ params, capabilities }: Pick<Asked, 'params' | 'capabilities'>): Wanted {
  const { notifications } = params;
  if (!isObject(notifications))
    throw new RpcFault(rpcCode.invalidParams, 'params.notifications must be an object');
  // None of them is heard of here: clients ask after their tasks.
  if (notifications['taskIds'] !== undefined) requireTasks(capabilities);
  const kinds = Object.entries(members).flatMap(([kind, member]) =>
    notifications[member] === true ? [kind as ListKind] : [],
  );
  const { resourceSubscriptions: given = [] } = notifications;
  if (
    !Array.isArray(given) ||
    given.length > MOST_ADDRESSES ||
    !given.every((uri) => typeof uri === 'string')
  )
    throw new RpcFault(rpcCode.invalidParams, 'resourceSubscriptions must be up to 100 addresses');
  return { kinds: new Set(kinds), addresses: [...new Set(given)] };
}

function honoured({ kinds, addresses }: Wanted): JsonObject {
  return {
    ...Object.fromEntries([...kinds].map((kind) => [members[kind], true])),
    ...(addresses.length > 0 && { resourceSubscriptions: addresses }),
  };
}
