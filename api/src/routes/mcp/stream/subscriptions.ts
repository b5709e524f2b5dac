import {
  type EndpointParts,
  type EndpointSelector,
  type Inbound,
  type JsonObject,
  type ListChanges,
  type ListKind,
  type Principal,
  type ServerSubscription,
  type SubscribeParts,
  cannotSubscribe,
  endpointServers,
  listKinds,
  principalKey,
  routeResource,
  subscribeToServer,
} from '@behalf/gateway';
import { type Cancel, type Clock, LightCancellation, withTimeout } from '@behalf/kernel';

interface ListNotification {
  readonly method: string;
  readonly params: JsonObject;
  readonly kind: ListKind;
}

interface ListChangeSubscription {
  /** The names of servers that send no notifications here: too many servers, or a server without a stream. */
  readonly unsubscribedServers: readonly string[];
  stop(): void;
}

/** Notifies one caller of changes to the lists of an endpoint. */
export type SubscribeLists = (
  caller: Principal,
  endpoint: EndpointSelector,
  onNotification: (notification: ListNotification) => void,
  options?: {
    /** Also subscribes to servers with a connection per user. The connections stay open while the subscription lasts. */
    readonly includesOwn?: boolean;
  },
) => ListChangeSubscription;

/** The minimum interval between notifications of one list. */
const COALESCE_MS = 1_000;

/** Notifies only of servers that the caller may use: a notification must not reveal that another server exists. */
export function createSubscribeLists({
  servers,
  listChanges,
  clock,
}: {
  servers: EndpointParts & SubscribeParts;
  listChanges: Pick<ListChanges, 'subscribe'>;
  clock: Clock;
}): SubscribeLists {
  return (caller, endpoint, onNotification, { includesOwn = false } = {}) => {
    const pendingKinds = new Set<ListKind>();
    let cancel: Cancel | undefined;
    /** Servers may have been added or removed. */
    let hasServerChanges = false;
    const flush = () => {
      cancel = undefined;
      for (const kind of pendingKinds)
        onNotification({ kind, method: `notifications/${kind}/list_changed`, params: {} });
      pendingKinds.clear();
      if (hasServerChanges) ownSubscriptions?.update();
      hasServerChanges = false;
    };
    const isRelevant = (serverId: string | undefined) => {
      try {
        const visible = endpointServers(servers, caller, endpoint);
        return serverId === undefined || visible.some(({ id }) => id === serverId);
      } catch {
        // The server of the endpoint was removed, or the caller lost access: this is a change of the list as well.
        return serverId === undefined;
      }
    };
    const markChanged = (kinds: readonly ListKind[]) => {
      for (const kind of kinds) pendingKinds.add(kind);
      cancel ??= clock.timer(COALESCE_MS, flush);
    };
    const ownSubscriptions = includesOwn
      ? createOwnServerSubscriptions(servers, caller, endpoint, markChanged)
      : undefined;
    const unsubscribe = listChanges.subscribe(({ serverId, ownerKey, kinds }) => {
      if (ownerKey !== undefined && ownerKey !== principalKey(caller)) return;
      if (serverId === undefined) hasServerChanges = true;
      // Skips the access check if a notification of these lists is pending already.
      if (kinds.every((kind) => pendingKinds.has(kind)) || !isRelevant(serverId)) return;
      markChanged(kinds);
    });
    return {
      unsubscribedServers: ownSubscriptions?.unsubscribedServers() ?? [],
      stop() {
        unsubscribe();
        cancel?.();
        ownSubscriptions?.stop();
      },
    };
  };
}

/** Limits the connections that one stream keeps open, possibly all day. */
const MAX_OWN_SUBSCRIPTIONS = 8;

/** Subscribes to the servers of an endpoint that have a connection per user. */
function createOwnServerSubscriptions(
  servers: EndpointParts & SubscribeParts,
  caller: Principal,
  endpoint: EndpointSelector,
  onChanged: (kinds: readonly ListKind[]) => void,
) {
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
      // The user has the maximum number of subscriptions. Lists are still current when they are requested.
      return false;
    }
  }

  /** Follows the current servers of the endpoint. */
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
    // The server of the endpoint was removed after the request was authorized.
    return [];
  }
}

/** Notifies one caller of updates of resources. */
export type SubscribeResources = (
  caller: Principal,
  endpoint: EndpointSelector,
  onUpdated: (publicUri: string) => void,
) => ResourceSubscription;

interface ResourceSubscription {
  /** Replaces the set of resources. Returns the URIs that were subscribed; URIs without updates are left out. */
  setUris(publicUris: readonly string[]): Promise<readonly string[]>;
  stop(): void;
}

/** The time that a server has to confirm a subscription. */
const DEADLINE_MS = 5_000;
const UPDATED_METHOD = 'notifications/resources/updated';

interface UpstreamResource {
  readonly server: string;
  readonly uri: string;
}

export function createSubscribeResources(parts: {
  servers: EndpointParts & SubscribeParts;
  clock: Clock;
}): SubscribeResources {
  const { servers, clock } = parts;
  return (caller, endpoint, onUpdated) => {
    const cancellation = new LightCancellation();
    const inbound: Inbound = { principal: caller, door: 'mcp', signal: cancellation };
    const serverSubscriptions = new Map<string, ServerSubscription>();
    const subscribed = new Map<string, UpstreamResource>();

    function subscribeServer(server: string): ServerSubscription {
      const existing = serverSubscriptions.get(server);
      if (existing) return existing;
      const subscription = subscribeToServer(servers, server, inbound, ({ method, params }) => {
        if (method !== UPDATED_METHOD) return;
        for (const [publicUri, { server: resourceServer, uri }] of subscribed)
          if (resourceServer === server && uri === params['uri']) onUpdated(publicUri);
      });
      serverSubscriptions.set(server, subscription);
      return subscription;
    }

    async function addResource(publicUri: string): Promise<void> {
      const { server, name: uri } = await routeResource(servers, inbound, endpoint, publicUri);
      if (cancellation.aborted) return;
      subscribed.set(publicUri, { server, uri });
      try {
        await subscribeServer(server).subscribeResource(uri);
      } catch (error) {
        subscribed.delete(publicUri);
        throw error;
      }
    }

    function removeResource(publicUri: string, { server, uri }: UpstreamResource): void {
      subscribed.delete(publicUri);
      for (const other of subscribed.values()) if (other.server === server && other.uri === uri) return;
      serverSubscriptions.get(server)?.unsubscribeResource(uri);
    }

    return {
      async setUris(publicUris) {
        const requested = new Set(publicUris);
        for (const [publicUri, resource] of subscribed)
          if (!requested.has(publicUri)) removeResource(publicUri, resource);
        const added = [...requested].filter((publicUri) => !subscribed.has(publicUri));
        await Promise.all(
          added.map((publicUri) =>
            withTimeout(clock, DEADLINE_MS, addResource(publicUri), () => undefined).catch(() => undefined),
          ),
        );
        return [...requested].filter((publicUri) => subscribed.has(publicUri));
      },
      stop() {
        cancellation.abort(new DOMException('The stream was closed', 'AbortError'));
        for (const subscription of serverSubscriptions.values()) subscription.close();
        serverSubscriptions.clear();
        subscribed.clear();
      },
    };
  };
}
