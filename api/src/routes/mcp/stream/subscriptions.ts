import {
  type EndpointParts,
  type EndpointSelector,
  type Inbound,
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

/*
 * Notifications for one caller: changes of lists, and updates of resources. Invariants:
 * - A notification names only servers that the caller may use at this time. It must not reveal that another server exists.
 * - Connections that a subscription keeps open, and the rate of its notifications, are limited.
 */
type Servers = EndpointParts & SubscribeParts;

/** The minimum interval between notifications of one list. */
const COALESCE_MS = 1_000;

export type SubscribeLists = ReturnType<typeof createSubscribeLists>;

/** The method of the notification that a list has changed. */
export function listChangedMethod(kind: ListKind): string {
  return `notifications/${kind}/list_changed`;
}

/**
 * Notifies of changes to the lists of an endpoint. `includesOwn`: also subscribes to servers with a connection per user, which
 * stays open while the subscription lasts.
 */
export function createSubscribeLists({
  servers,
  listChanges,
  clock,
}: {
  readonly servers: Servers;
  readonly listChanges: Pick<ListChanges, 'subscribe'>;
  readonly clock: Clock;
}) {
  return (
    caller: Principal,
    endpoint: EndpointSelector,
    onListChanged: (kind: ListKind) => void,
    { includesOwn = false }: { readonly includesOwn?: boolean } = {},
  ) => {
    const pendingKinds = new Set<ListKind>();
    let cancel: Cancel | undefined;
    /** Servers may have been added or removed. */
    let hasServerChanges = false;
    const flush = () => {
      cancel = undefined;
      for (const kind of pendingKinds) onListChanged(kind);
      pendingKinds.clear();
      if (hasServerChanges) ownSubscriptions?.update();
      hasServerChanges = false;
    };
    const markChanged = (kinds: readonly ListKind[]) => {
      for (const kind of kinds) pendingKinds.add(kind);
      cancel ??= clock.timer(COALESCE_MS, flush);
    };
    const isVisible = (serverId: string) =>
      visibleServers(servers, caller, endpoint).some(({ id }) => id === serverId);
    const ownSubscriptions = includesOwn
      ? createOwnServerSubscriptions(servers, caller, endpoint, (kind) => markChanged([kind]))
      : undefined;
    const unsubscribe = listChanges.subscribe(({ serverId, ownerKey, kinds }) => {
      if (ownerKey !== undefined && ownerKey !== principalKey(caller)) return;
      if (serverId === undefined) hasServerChanges = true;
      // Skips the access check if a notification of these lists is pending already.
      if (kinds.every((kind) => pendingKinds.has(kind))) return;
      if (serverId === undefined || isVisible(serverId)) markChanged(kinds);
    });
    return {
      /** The names of servers that send no notifications here: too many servers, or a server without a stream. */
      unsubscribedServers: ownSubscriptions?.update() ?? [],
      stop(): void {
        unsubscribe();
        cancel?.();
        ownSubscriptions?.stop();
      },
    };
  };
}

/** Empty if the server of the endpoint was removed, or if the caller has lost access to it. */
function visibleServers(servers: EndpointParts, caller: Principal, endpoint: EndpointSelector) {
  try {
    return endpointServers(servers, caller, endpoint);
  } catch {
    return [];
  }
}

/** Limits the connections that one stream keeps open, possibly all day. */
const MAX_OWN_SUBSCRIPTIONS = 8;

/** Subscribes to the servers of an endpoint that have a connection per user. */
function createOwnServerSubscriptions(
  servers: Servers,
  caller: Principal,
  endpoint: EndpointSelector,
  onListChanged: (kind: ListKind) => void,
) {
  const inbound: Inbound = { principal: caller, door: 'mcp', signal: new LightCancellation() };
  const subscriptions = new Map<string, ServerSubscription>();

  function subscribe(id: string, name: string): boolean {
    if (subscriptions.has(id)) return true;
    if (subscriptions.size >= MAX_OWN_SUBSCRIPTIONS) return false;
    try {
      const subscription = subscribeToServer(servers, name, inbound, ({ method }) => {
        const kind = listKinds.find((candidate) => method === listChangedMethod(candidate));
        if (kind === undefined) return;
        servers.itemLists.expire(id, principalKey(caller));
        onListChanged(kind);
      });
      subscriptions.set(id, subscription);
      return true;
    } catch {
      // The user has the maximum number of subscriptions. Lists are still current when they are requested.
      return false;
    }
  }

  return {
    /** Subscribes to the current servers of the endpoint. Returns the names of those that cannot be subscribed. */
    update(): readonly string[] {
      const userServers = visibleServers(servers, caller, endpoint).filter(({ scope }) => scope === 'user');
      for (const [id, subscription] of subscriptions) {
        if (userServers.some((server) => server.id === id)) continue;
        subscription.close();
        subscriptions.delete(id);
      }
      return userServers
        .filter((server) => cannotSubscribe(server) || !subscribe(server.id, server.name))
        .map(({ name }) => name);
    },
    stop(): void {
      for (const subscription of subscriptions.values()) subscription.close();
      subscriptions.clear();
    },
  };
}

/** The time that a server has to confirm a subscription. */
const DEADLINE_MS = 5_000;
const UPDATED_METHOD = 'notifications/resources/updated';

interface UpstreamResource {
  readonly server: string;
  readonly uri: string;
}

export type SubscribeResources = ReturnType<typeof createSubscribeResources>;

/** Notifies of updates of resources, by their public URIs. */
export function createSubscribeResources({
  servers,
  clock,
}: {
  readonly servers: Servers;
  readonly clock: Clock;
}) {
  return (caller: Principal, endpoint: EndpointSelector, onUpdated: (publicUri: string) => void) => {
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
      /** Replaces the set of resources. Returns the URIs that were subscribed; URIs without updates are left out. */
      async setUris(publicUris: readonly string[]): Promise<readonly string[]> {
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
      stop(): void {
        cancellation.abort(new DOMException('The stream was closed', 'AbortError'));
        for (const subscription of serverSubscriptions.values()) subscription.close();
        serverSubscriptions.clear();
        subscribed.clear();
      },
    };
  };
}
