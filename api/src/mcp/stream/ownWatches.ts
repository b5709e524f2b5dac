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
export interface OwnWatches {
  /** Which servers there are may have changed. */
  update(): void;
  /** The names of those of which nothing is heard. */
  unheard(): readonly string[];
  stop(): void;
}

/** So many of one's own connections are worth a stream, which a client may keep all day. */
const MOST_OWN = 8;

export function createOwnWatches(
  servers: EndpointParts & SubscribeParts,
  caller: Principal,
  endpoint: EndpointSelector,
  changed: (kinds: readonly ListKind[]) => void,
): OwnWatches {
  const inbound: Inbound = { principal: caller, door: 'mcp', signal: new LightCancellation() };
  const watches = new Map<string, ServerSubscription>();
  let unheard: readonly string[] = [];

  function watch(id: string, name: string): boolean {
    if (watches.has(id)) return true;
    if (watches.size >= MOST_OWN) return false;
    try {
      const watching = subscribeToServer(servers, name, inbound, ({ method }) => {
        const kind = listKinds.find((one) => method === `notifications/${one}/list_changed`);
        if (kind === undefined) return;
        servers.itemLists.expire(id, principalKey(caller));
        changed([kind]);
      });
      watches.set(id, watching);
      return true;
    } catch {
      // They watch as much as one may: what changes there is seen when it is asked for.
      return false;
    }
  }

  function update(): void {
    const own = ownServers(servers, caller, endpoint);
    for (const [id, watching] of watches) {
      if (own.some((server) => server.id === id)) continue;
      watching.close();
      watches.delete(id);
    }
    unheard = own
      .filter((server) => cannotSubscribe(server) || !watch(server.id, server.name))
      .map(({ name }) => name);
  }

  update();
  return {
    update,
    unheard: () => unheard,
    stop() {
      for (const watching of watches.values()) watching.close();
      watches.clear();
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
