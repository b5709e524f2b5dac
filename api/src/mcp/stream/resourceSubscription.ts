import {
  routeResource,
  subscribeToServer,
  type EndpointSelector,
  type EndpointParts,
  type Inbound,
  type Principal,
  type ServerSubscription,
  type SubscribeParts,
} from '@behalf/gateway';
import { LightCancellation, withTimeout, type Clock } from '@behalf/kernel';

/** Follows resources for one caller. An address of which nothing can be heard is left out. */
export type SubscribeResources = (
  caller: Principal,
  endpoint: EndpointSelector,
  onUpdated: (publicUri: string) => void,
) => ResourceSubscription;

export interface ResourceSubscription {
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
