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
  /** Servers of which nothing is heard: more than a stream follows, or nothing is held open for them. */
  readonly unsubscribedServers: readonly string[];
  stop(): void;
}

/** Tells one caller that a list of theirs at this endpoint has changed. */
export type SubscribeLists = (
  caller: Principal,
  endpoint: EndpointSelector,
  onNotification: (notification: ListNotification) => void,
  options?: {
    /** Also listens at the servers of which this caller has a connection of their own: it is held open meanwhile. */
    readonly includesOwn?: boolean;
  },
) => ListChangeSubscription;

/** However often something changes, nobody is told more often than this. */
const COALESCE_MS = 1_000;

/** Only what this caller may use: that another server exists is not told by its changes either. */
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
    /** There may be other servers. */
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
        // Their only server is gone, or not theirs any more: that is a change of the list too.
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
      // They are told already: whether it is theirs is asked once, however many changes come together.
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

/** What changes at the servers of which a caller has connections of their own. */
interface OwnServerSubscriptions {
  /** Which servers there are may have changed. */
  update(): void;
  /** The names of those of which nothing is heard. */
  unsubscribedServers(): readonly string[];
  stop(): void;
}

/** So many of one's own connections are worth a stream, which a client may keep all day. */
const MAX_OWN_SUBSCRIPTIONS = 8;

function createOwnServerSubscriptions(
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

/** Follows resources for one caller. An address of which nothing can be heard is left out. */
export type SubscribeResources = (
  caller: Principal,
  endpoint: EndpointSelector,
  onUpdated: (publicUri: string) => void,
) => ResourceSubscription;

interface ResourceSubscription {
  /** Also those of the addresses that are followed already. The others are let go. Gives those that are heard of. */
  setUris(publicUris: readonly string[]): Promise<readonly string[]>;
  stop(): void;
}

/** Nobody waits longer for a server that does not answer. */
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
