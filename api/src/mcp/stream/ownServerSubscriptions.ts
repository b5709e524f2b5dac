import {
  endpointServers,
  cannotSubscribe,
  listKinds,
  principalKey,
  subscribeToServer,
  type EndpointSelector,
  type EndpointParts,
  type Inbound,
  type ListKind,
  type Principal,
  type ServerSubscription,
  type SubscribeParts,
} from '@behalf/gateway';
import { LightCancellation } from '@behalf/kernel';

/** What changes at the servers of which a caller has connections of their own. */
export interface OwnServerSubscriptions {
  /** Which servers there are may have changed. */
  update(): void;
  /** The names of those of which nothing is heard. */
  unsubscribedServers(): readonly string[];
  stop(): void;
}

/** So many of one's own connections are worth a stream, which a client may keep all day. */
const MAX_OWN_SUBSCRIPTIONS = 8;

export function createOwnServerSubscriptions(
  servers: EndpointParts & SubscribeParts,
  caller: Principal,
  endpoint: EndpointSelector,
  onChanged: (kinds: readonly ListKind[]) => void,
): OwnServerSubscriptions {
  const inbound: Inbound = { principal: caller, door: 'mcp', signal: new LightCancellation() };
  const subscriptions = new Map<string, ServerSubscription>();
  let unsubscribedServers: readonly string[] = [];

  function subscribe(id: string, name: string): boolean {
    if (subscriptions.has(id)) return true;
    if (subscriptions.size >= MAX_OWN_SUBSCRIPTIONS) return false;
    try {
      const subscription = subscribeToServer(servers, name, inbound, ({ method }) => {
        const kind = listKinds.find((candidate) => method === `notifications/${candidate}/list_changed`);
        if (kind === undefined) return;
        servers.itemLists.expire(id, principalKey(caller));
        onChanged([kind]);
      });
      subscriptions.set(id, subscription);
      return true;
    } catch {
      // They watch as much as one may: what changes there is seen when it is asked for.
      return false;
    }
  }

  function update(): void {
    const userServers = ownServers(servers, caller, endpoint);
    for (const [id, subscription] of subscriptions) {
      if (userServers.some((server) => server.id === id)) continue;
      subscription.close();
      subscriptions.delete(id);
    }
    unsubscribedServers = userServers
      .filter((server) => cannotSubscribe(server) || !subscribe(server.id, server.name))
      .map(({ name }) => name);
  }

  update();
  return {
    update,
    unsubscribedServers: () => unsubscribedServers,
    stop() {
      for (const subscription of subscriptions.values()) subscription.close();
      subscriptions.clear();
    },
  };
}

function ownServers(servers: EndpointParts, caller: Principal, endpoint: EndpointSelector) {
  try {
    return endpointServers(servers, caller, endpoint).filter(({ scope }) => scope === 'user');
  } catch {
    // Their only server went while they came in: they are told when it is theirs again.
    return [];
  }
}
